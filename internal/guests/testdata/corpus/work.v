// A small processor beside a multiplier and a sorter: what a synthesizer has
// to flatten, to map and to fold.
module multiplier #(parameter W = 12) (input clk, input [W-1:0] a, b, output reg [2*W-1:0] p);
  always @(posedge clk) p <= a * b;
endmodule

module swap #(parameter W = 8) (input [W-1:0] a, b, output [W-1:0] low, high);
  assign {low, high} = a < b ? {a, b} : {b, a};
endmodule

module sorter #(parameter W = 8) (input [4*W-1:0] in, output [4*W-1:0] out);
  wire [W-1:0] a, b, c, d, e, f;
  swap #(W) s0 (in[W-1:0], in[2*W-1:W], a, b);
  swap #(W) s1 (in[3*W-1:2*W], in[4*W-1:3*W], c, d);
  swap #(W) s2 (a, c, out[W-1:0], e);
  swap #(W) s3 (b, d, f, out[4*W-1:3*W]);
  swap #(W) s4 (e, f, out[2*W-1:W], out[3*W-1:2*W]);
endmodule

module processor (input clk, reset, input [15:0] code, output reg [15:0] pc, output [15:0] result);
  reg [15:0] file [0:7];
  wire [2:0] to = code[11:9], from = code[8:6], other = code[5:3];
  wire [15:0] x = file[from], y = file[other];
  reg [15:0] z;
  always @* case (code[15:12])
    4'd0: z = x + y;
    4'd1: z = x - y;
    4'd2: z = x & y;
    4'd3: z = x | y;
    4'd4: z = x ^ y;
    4'd5: z = x << y[3:0];
    4'd6: z = x >> y[3:0];
    4'd7: z = $signed(x) >>> y[3:0];
    4'd8: z = {15'b0, $signed(x) < $signed(y)};
    default: z = {10'b0, code[5:0]};
  endcase
  always @(posedge clk)
    if (reset) pc <= 0;
    else begin
      pc <= code[15:12] == 4'd9 && x == 0 ? y : pc + 1;
      file[to] <= z;
    end
  assign result = z;
endmodule

module top (input clk, reset, input [15:0] code, output [15:0] pc, output [31:0] sorted, output [23:0] product);
  wire [15:0] r;
  processor cpu (clk, reset, code, pc, r);
  multiplier m (clk, r[11:0], pc[11:0], product);
  sorter s ({r, pc}, sorted);
endmodule
