// What C++ programs lean on: maps, sorting with lambdas, strings, streams,
// virtual functions, destructors. The argument says how much of it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

static uint32_t seed = 7;
static uint32_t draw() { return seed = seed * 1103515245 + 12345; }

struct Shape {
    virtual ~Shape() {}
    virtual double area() const = 0;
};
struct Square : Shape {
    double a;
    explicit Square(double a) : a(a) {}
    double area() const override { return a * a; }
};
struct Disc : Shape {
    double r;
    explicit Disc(double r) : r(r) {}
    double area() const override { return 3.14159 * r * r; }
};

static std::string counted(int n)
{
    std::map<std::string, int> seen;
    for (int i = 0; i < n; i++)
        seen["word" + std::to_string((draw() >> 16) % 300)]++;
    std::vector<std::pair<std::string, int>> order(seen.begin(), seen.end());
    std::sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    std::ostringstream s;
    s << order[0].first << '=' << order[0].second;
    return s.str();
}

static double areas(int n)
{
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = 0; i < n; i++) {
        double size = (draw() >> 16) % 100 / 10.0;
        if (i % 3)
            shapes.emplace_back(new Square(size));
        else
            shapes.emplace_back(new Disc(size));
    }
    std::stable_sort(shapes.begin(), shapes.end(), [](const auto &a, const auto &b) { return a->area() < b->area(); });
    double sum = 0;
    for (size_t i = 0; i < shapes.size(); i += 2)
        sum += shapes[i]->area();
    return sum;
}

static size_t chains(int n)
{
    std::unordered_map<uint32_t, std::vector<uint32_t>> next;
    for (int i = 0; i < n; i++)
        next[(draw() >> 16) % 500].push_back((draw() >> 16) % 500);
    size_t longest = 0;
    for (uint32_t at = 0; at < 500; at++) {
        std::map<uint32_t, bool> been;
        uint32_t x = at;
        while (!been[x] && !next[x].empty()) {
            been[x] = true;
            x = next[x][0];
        }
        longest = std::max(longest, been.size());
    }
    return longest;
}

int main(int argc, char **argv)
{
    int turns = argc > 1 ? std::atoi(argv[1]) : 1;
    for (int turn = 1; turn <= turns; turn++)
        std::cout << turn << ' ' << counted(1000) << ' ' << std::fixed << std::setprecision(3) << areas(500) << ' ' << chains(800) << std::endl;
}
