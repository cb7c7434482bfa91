// What Zig programs lean on: allocators, hash maps, sorting, formatting, error
// unions. The argument says how much of it.
const std = @import("std");

var seed: u32 = 7;

fn draw() u32 {
    seed = seed *% 1103515245 +% 12345;
    return seed >> 16;
}

fn counted(gpa: std.mem.Allocator, n: usize) !u32 {
    var seen = std.StringHashMap(u32).init(gpa);
    defer {
        var keys = seen.keyIterator();
        while (keys.next()) |k| gpa.free(k.*);
        seen.deinit();
    }
    for (0..n) |_| {
        const word = try std.fmt.allocPrint(gpa, "word{d}", .{draw() % 300});
        const entry = try seen.getOrPut(word);
        if (entry.found_existing) {
            gpa.free(word);
            entry.value_ptr.* += 1;
        } else entry.value_ptr.* = 1;
    }
    var most: u32 = 0;
    var values = seen.valueIterator();
    while (values.next()) |v| most = @max(most, v.*);
    return most;
}

fn median(gpa: std.mem.Allocator, n: usize) !f64 {
    var list = std.ArrayList(f64).init(gpa);
    defer list.deinit();
    for (0..n) |_| try list.append(@as(f64, @floatFromInt(draw() % 10000)) / 7.0);
    std.sort.heap(f64, list.items, {}, std.sort.asc(f64));
    return list.items[n / 2];
}

const Wrong = error{Odd};

fn half(n: u32) Wrong!u32 {
    return if (n % 2 == 1) error.Odd else n / 2;
}

pub fn main() !void {
    var gpa = std.heap.GeneralPurposeAllocator(.{}){};
    const args = try std.process.argsAlloc(gpa.allocator());
    const turns = if (args.len > 1) try std.fmt.parseInt(u32, args[1], 10) else 1;
    const out = std.io.getStdOut().writer();
    for (0..turns) |turn| {
        var halves: u32 = 0;
        for (0..500) |_| halves +%= half(draw()) catch 1;
        try out.print("{d} {d} {d:.3} {d}\n", .{ turn + 1, try counted(gpa.allocator(), 300), try median(gpa.allocator(), 400), halves });
    }
}
