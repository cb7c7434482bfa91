"""What the node's API takes and answers: made from api/openapi.yaml, not to be edited."""

from __future__ import annotations

from typing import Any, Dict, List, TypedDict


class AddRequestMore(TypedDict, total=False):
    task: int
    trials: int


class AddRequest(TypedDict, total=False):
    more: List[AddRequestMore]
    points: Dict[str, List[str]]
    sweep: Dict[str, List[str]]
    tasks: int
    trials: int


class Added(TypedDict, total=False):
    id: str
    known: int
    tasks: int
    to: str


class AddedPeer(TypedDict, total=False):
    addrs: List[str]
    connected: bool
    peer: str
    since: str
    tries: int
    why: str


class Cell(TypedDict, total=False):
    cell: str
    idle: int
    leader: str
    members: int
    own: bool
    said: str
    slots: int
    waiting: int


class CheckedFileTablesValue(TypedDict, total=False):
    file: str
    kind: str


class CheckedFile(TypedDict, total=False):
    directories: List[str]
    inputs: List[str]
    module: str
    modules: Dict[str, str]
    name: str
    patterns: List[str]
    tables: Dict[str, CheckedFileTablesValue]
    tasks: int


class CreditDay(TypedDict, total=False):
    cpu_ns: int
    day: str
    fuel: int
    tasks: int


class CreditProject(TypedDict, total=False):
    cpu_ns: int
    fuel: int
    overlay: str
    project: str
    submitter: str
    tasks: int


class CreditToday(TypedDict, total=False):
    cpu_ns: int
    fuel: int
    tasks: int


class CreditTotal(TypedDict, total=False):
    cpu_ns: int
    fuel: int
    tasks: int


class Credit(TypedDict, total=False):
    days: List[CreditDay]
    name: str
    projects: List[CreditProject]
    since: str
    today: CreditToday
    total: CreditTotal


class EndForecast(TypedDict, total=False):
    draws: int
    high_s: float
    late: int
    low_s: float
    median_s: float
    notes: List[str]
    reason: str
    unknown: bool
    work_s: float


class FailuresGroup(TypedDict, total=False):
    exit_code: int
    first: int
    outcome: str
    peers: List[str]
    reason: str
    stderr: str
    tasks: int


class Failures(TypedDict, total=False):
    failed: int
    groups: List[FailuresGroup]
    looked: int
    more: int


class File(TypedDict, total=False):
    cid: str
    size: int


class Forecast(TypedDict, total=False):
    belief: float
    for_s: float
    known: bool
    peer: str
    rests_on: List[str]
    since: str
    state: str
    stay: float
    until: str


class GridBin(TypedDict, total=False):
    done: int
    failed: int
    lent: int
    running: int
    waiting: int


class Grid(TypedDict, total=False):
    bins: List[GridBin]
    per_bin: int
    total: int
    unplaced: int


class HomeGiven(TypedDict, total=False):
    cpu_s: float
    tasks: int


class HomeJob(TypedDict, total=False):
    id: str
    name: str
    reason: str
    state: str
    tasks: TaskCounts


class HomeNearRow(TypedDict, total=False):
    latency_ms: float
    peer: str
    state: str


class HomeNear(TypedDict, total=False):
    connected: int
    members: int
    rows: List[HomeNearRow]


class HomeNode(TypedDict, total=False):
    peer_id: str
    version: str


class Home(TypedDict, total=False):
    drained: bool
    given: HomeGiven
    jobs: List[HomeJob]
    more_jobs: int
    near: HomeNear
    node: HomeNode
    notices: List[str]
    overlays: List[HomePool]
    paused: bool
    rule: str
    running: List[LocalTask]
    sentence: str
    since: str
    slots: int
    state: str
    stopped: bool
    tasks: int
    until: str
    why: str


class HomePool(TypedDict, total=False):
    id: str
    leader: str
    members: int
    name: str
    role: str


class JobAdded(TypedDict, total=False):
    final: bool
    job: str
    state: str
    tasks: int


class JobChecksHeard(TypedDict, total=False):
    own: float
    tellers: int
    told: float
    workers: int


class JobChecks(TypedDict, total=False):
    accepted: int
    agreed: int
    confirm: str
    delivered: bool
    divergent: str
    doubted: int
    due: int
    final: int
    heard: JobChecksHeard
    key: str
    late: int
    no_core: bool
    open: int
    others: int
    promise: str
    right: int
    unchecked: int
    verify: str
    waits: int
    wrong: int


class JobFailure(TypedDict, total=False):
    index: int
    name: str
    reason: str


class JobLoanRange(TypedDict, total=False):
    to: int


class JobLoan(TypedDict, total=False):
    cell: str
    leader: str
    ranges: List[JobLoanRange]
    running: int
    since: str
    tasks: int
    until: str


class JobStage(TypedDict, total=False):
    done: int
    failed: int
    name: str
    needs: List[str]
    tasks: int


class JobTaken(TypedDict, total=False):
    job: str
    tasks: int


class JobTasks(TypedDict, total=False):
    done: int
    failed: int
    running: int
    total: int
    waiting: int


class JobTasksListAttempt(TypedDict, total=False):
    began: str
    down_s: float
    end: str
    from_checkpoint: bool
    moved_bytes: int
    moved_to: str
    outcome: str
    reason: str
    saved_cpu_s: float
    start: str
    worker: str


class JobTasksListFrom(TypedDict, total=False):
    index: int
    job: str


class JobTasksListParts(TypedDict, total=False):
    checked: int
    of: int


class JobTasksListRefutedPart(TypedDict, total=False):
    number: int
    to: int


class JobTasksListRefuted(TypedDict, total=False):
    by: str
    part: JobTasksListRefutedPart
    signed: str
    why: str


class JobTasksListResultOutput(TypedDict, total=False):
    cid: str
    name: str
    size: int


class JobTasksListResult(TypedDict, total=False):
    cid: str
    digest: str
    outputs: List[JobTasksListResultOutput]
    workers: List[str]


class JobTasksList(TypedDict, total=False):
    attempts: List[JobTasksListAttempt]
    audited: bool
    completed: float
    index: int
    missing: List[str]
    params: Dict[str, str]
    parts: JobTasksListParts
    reason: str
    refuted: JobTasksListRefuted
    result: JobTasksListResult
    standing: str
    state: str


class Job(TypedDict, total=False):
    added: List[JobAdded]
    adds: str
    checks: JobChecks
    error: str
    failures: List[JobFailure]
    final: bool
    held: int
    id: str
    loans: List[JobLoan]
    migrations: int
    name: str
    note: str
    overlay: str
    reason: str
    removed: int
    reruns: int
    slots: int
    stages: List[JobStage]
    state: str
    submitted: str
    submitter: str
    taken: List[JobTaken]
    tasks: JobTasks
    tasks_list: List[JobTasksList]
    trials: str
    unchecked: int
    useful_cpu_s: float
    wasted_cpu_s: float


class JobFile(TypedDict, total=False):
    file: str
    file_name: str
    key: str
    sizes: Dict[str, int]
    tables: Dict[str, Table]


class JobID(TypedDict, total=False):
    id: str


class JobList(TypedDict, total=False):
    jobs: List[Any]
    states: Dict[str, int]
    total: int


class Key(TypedDict, total=False):
    key: str


class LocalTask(TypedDict, total=False):
    note: str
    overlay: str
    peer: str
    rounds: int
    sent_bytes: int
    since: str
    state: str
    task: str


class MachineForecast(TypedDict, total=False):
    for_s: float
    stay: float


class MachineRule(TypedDict, total=False):
    choices: List[str]
    default: str
    effect: str
    hint: str
    key: str
    kind: str
    set: bool
    value: str


class MachineSensor(TypedDict, total=False):
    area: str
    check: str
    fix: str
    result: str
    text: str


class Machine(TypedDict, total=False):
    file: str
    forecast: List[MachineForecast]
    rests_on: List[str]
    rules: List[MachineRule]
    sensors: List[MachineSensor]
    strip: Strip


class Member(TypedDict, total=False):
    addrs: List[str]
    belief: str
    belief_by: str
    belief_since: str
    connected: bool
    forecast: float
    free: int
    latency_ms: float
    memory_bytes: int
    overlay: str
    path: str
    peer: str
    roles: List[str]
    seen: str
    site: str
    slots: int
    speed: float
    state: str
    version: str
    via: str


class OutputContent(TypedDict, total=False):
    cid: str
    content: str
    name: str
    size: int


class OutputPage(TypedDict, total=False):
    next: int
    tasks: List[TaskOutputs]
    total: int


class Overlay(TypedDict, total=False):
    cell: str
    cells: List[Cell]
    digest: str
    epoch: int
    group: List[str]
    id: str
    jobs: int
    leader: str
    manifest: str
    members: int
    name: str
    role: str
    rows: int
    share: float
    synced: bool
    term: int
    version: int


class OverlayRules(TypedDict, total=False):
    admission: str
    allowed: List[str]
    cells: str
    chunking: str
    coordinators: int
    fairness: str
    migration: str
    name: str
    placement: str
    predictor: str
    priorities: bool
    replicas: int
    revoke_invitations: bool
    slots_each: int
    trusted: List[str]
    verify: str


class PlanTaken(TypedDict, total=False):
    job: str
    tasks: int


class PlanUnfit(TypedDict, total=False):
    first: int
    peers: List[str]
    reason: str
    tasks: int


class Plan(TypedDict, total=False):
    forecast: EndForecast
    memory_bytes: int
    overlay: str
    promise: str
    ready: List[str]
    runs: int
    slots: int
    taken: List[PlanTaken]
    tasks: int
    unfit: List[PlanUnfit]
    verify: str
    work_s: float


class PlanRequest(TypedDict, total=False):
    at_once: int
    job: Any
    memory_bytes: int
    overlay: str
    replicas: int
    saves: bool
    stages: List[PlanStage]
    tasks: int
    work_s: float


class PlanStageNeed(TypedDict, total=False):
    stage: int


class PlanStage(TypedDict, total=False):
    memory_bytes: int
    needs: List[PlanStageNeed]
    tasks: int
    work_s: float


class PoolCreditRow(TypedDict, total=False):
    cpu_ns: int
    days: int
    fuel: int
    name: str
    submitters: int
    tasks: int
    worker: str


class PoolCredit(TypedDict, total=False):
    answered: int
    members: int
    overlay: str
    rows: List[PoolCreditRow]
    since: str


class Preview(TypedDict, total=False):
    effect: str
    key: str
    notes: List[str]
    now: Tally
    strip: Strip
    then: Tally
    to: str
    unknown_s: float
    value: str


class ReachRelayed(TypedDict, total=False):
    peer: str
    via: str


class ReachRouterOpen(TypedDict, total=False):
    outside: str
    port: int
    protocol: str
    until: str


class ReachRouter(TypedDict, total=False):
    asked: bool
    by: str
    open: List[ReachRouterOpen]
    router: str
    why: str


class Reach(TypedDict, total=False):
    carried_bytes: int
    circuits: int
    hidden: bool
    nat: str
    reach: str
    relayed: List[ReachRelayed]
    relays: List[str]
    router: ReachRouter


class ResearchDecision(TypedDict, total=False):
    action: str
    at: str
    overlay: str
    peer: str
    reason: str
    task: str


class ResearchMember(TypedDict, total=False):
    forecast: Forecast
    overlay: str
    peer: str
    spells: List[Spell]


class ResearchReliabilityBin(TypedDict, total=False):
    came: float
    n: int
    said: float


class ResearchReliability(TypedDict, total=False):
    asked: int
    bins: List[ResearchReliabilityBin]
    brier: float
    for_s: float
    model: str
    why: str


class Research(TypedDict, total=False):
    decisions: List[ResearchDecision]
    members: List[ResearchMember]
    reliability: ResearchReliability


class RuleRequest(TypedDict, total=False):
    key: str
    value: str


class SchedulingAllocation(TypedDict, total=False):
    classes: List[str]
    error: str
    load: float
    more: bool
    peers: List[str]
    share: List[List[float]]
    solved: str
    why: str


class SchedulingClasse(TypedDict, total=False):
    arrival: float
    arrivals: int
    oldest_s: float
    running: int
    waiting: int
    work_s: float


class SchedulingMemberRate(TypedDict, total=False):
    measured: int
    rate: float


class SchedulingMember(TypedDict, total=False):
    behind_s: float
    idle_s: float
    load: int
    peer: str
    rates: List[SchedulingMemberRate]
    running: Dict[str, int]
    share: float
    site: str
    slots: int
    speed: float
    there: bool


class Scheduling(TypedDict, total=False):
    allocation: SchedulingAllocation
    at: str
    chunking: str
    classes: List[SchedulingClasse]
    epoch: int
    fairness: str
    leader: str
    members: List[SchedulingMember]
    migration: str
    more_classes: int
    more_members: int
    placement: str
    predictor: str
    running: int
    since: str
    waiting: int


class Session(TypedDict, total=False):
    by: str
    csrf: str
    expires: str


class Spell(TypedDict, total=False):
    state: str
    to: str


class StagesStage(TypedDict, total=False):
    count: int
    first: int
    name: str
    needs: List[str]
    tasks: TaskCounts


class Stages(TypedDict, total=False):
    stages: List[StagesStage]


class StatusGiven(TypedDict, total=False):
    cpu_ns: int
    tasks: int


class StatusRunning(TypedDict, total=False):
    note: str
    overlay: str
    peer: str
    rounds: int
    sent_bytes: int
    since: str
    state: str
    task: str


class Status(TypedDict, total=False):
    addrs: List[str]
    coordinates: List[str]
    drained: bool
    given: StatusGiven
    move_at: str
    notices: List[str]
    overlays: List[Overlay]
    peer_id: str
    peers: int
    reach: Reach
    reason: str
    rss_bytes: int
    rule: str
    rules_file: str
    running: List[StatusRunning]
    rx_bytes: int
    sensor: str
    since: str
    slots: int
    state: str
    stopped: bool
    tasks: int
    tx_bytes: int
    until: str
    version: str


class Strip(TypedDict, total=False):
    spells: List[Spell]
    to: str


class SubmissionInput(TypedDict, total=False):
    cid: str
    name: str
    size: int


class Submission(TypedDict, total=False):
    args: List[str]
    file: str
    file_name: str
    inputs: List[SubmissionInput]
    key: str
    module: str
    modules: Dict[str, str]
    overlay: str
    reuse: bool
    tables: Dict[str, Table]


class SwarmDot(TypedDict, total=False):
    latency_ms: float
    members: int
    state: str


class SwarmTrafficPoint(TypedDict, total=False):
    at: str
    rx_per_s: float
    tx_per_s: float


class SwarmTraffic(TypedDict, total=False):
    points: List[SwarmTrafficPoint]
    rx_bytes: int
    tx_bytes: int


class Swarm(TypedDict, total=False):
    beliefs: Dict[str, int]
    dots: List[SwarmDot]
    free: int
    group: List[str]
    id: str
    leader: str
    lost: int
    members: int
    name: str
    overlays: List[HomePool]
    rows: List[Member]
    slots: int
    states: Dict[str, int]
    traffic: SwarmTraffic


class TableColumn(TypedDict, total=False):
    longest: int
    name: str


class Table(TypedDict, total=False):
    cid: str
    columns: List[TableColumn]
    pages: List[int]
    rows: int
    size: int


class Tally(TypedDict, total=False):
    available_s: float
    stops: int


class TaskCounts(TypedDict, total=False):
    done: int
    failed: int
    running: int
    total: int
    waiting: int


class TaskOutputs(TypedDict, total=False):
    exit_code: int
    failed: bool
    index: int
    message: str
    outcome: str
    outputs: List[OutputContent]
    params: Dict[str, str]
    reason: str
    workers: List[str]


class TimelineRowBar(TypedDict, total=False):
    from_checkpoint: bool
    moved_to: str
    outcome: str
    task: int
    to: str


class TimelineRow(TypedDict, total=False):
    bars: List[TimelineRowBar]
    worker: str


class Timeline(TypedDict, total=False):
    more: int
    rows: List[TimelineRow]
    to: str


class WhyReason(TypedDict, total=False):
    first: int
    members: int
    peers: List[str]
    reason: str
    tasks: int


class Why(TypedDict, total=False):
    asked: int
    job: str
    more: int
    reasons: List[WhyReason]
    total: int
