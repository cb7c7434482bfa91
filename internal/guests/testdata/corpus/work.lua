-- What an interpreter is asked to do in ordinary programs: calls, tables,
-- strings, closures, floats. The first argument says how much of it.
local turns = tonumber(arg and arg[1]) or 1

local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end

local function sieve(n)
  local composite, count = {}, 0
  for i = 2, n do
    if not composite[i] then
      count = count + 1
      for j = i * i, n, i do composite[j] = true end
    end
  end
  return count
end

local function words(n)
  local seen, order, seed = {}, {}, 7
  for _ = 1, n do
    seed = (seed * 1103515245 + 12345) % 2147483648
    local word = string.format("w%03d", seed // 65536 % 500)
    if not seen[word] then
      seen[word] = 0
      order[#order + 1] = word
    end
    seen[word] = seen[word] + 1
  end
  table.sort(order, function(a, b) return seen[a] > seen[b] or seen[a] == seen[b] and a < b end)
  return order[1] .. "=" .. seen[order[1]]
end

local function orbit(n)
  local x, y, vx, vy = 1.0, 0.0, 0.0, 1.0
  for _ = 1, n do
    local r = (x * x + y * y) ^ 1.5
    vx, vy = vx - x / r * 0.001, vy - y / r * 0.001
    x, y = x + vx * 0.001, y + vy * 0.001
  end
  return string.format("%.9f %.9f", x, y)
end

local function rewrite(n)
  local text = ("the quick brown fox "):rep(n)
  return #text:gsub("%a+", function(w) return w:upper():reverse() end):gsub("O", "00")
end

for turn = 1, turns do
  print(turn, fib(18 + turn % 3), sieve(4000 + turn), words(2000 + turn), orbit(3000), rewrite(50))
end
