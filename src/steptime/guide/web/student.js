// The 97.5% quantile of Student's t, by the same expansion as core/stats/student.py (Hill, CACM algorithm 396).

const TAIL = 0.05;
const NORMAL = -1.959963984540054;

/** @type {(freedom: number) => number} */
export function studentQuantile(freedom) {
  if (freedom <= 1) return freedom === 1 ? Math.tan(Math.PI * 0.475) : Infinity;
  if (freedom === 2) return Math.sqrt(2 / (TAIL * (2 - TAIL)) - 2);
  const a = 1 / (freedom - 0.5);
  const b = 48 / (a * a);
  const c = (((20700 * a) / b - 98) * a - 16) * a + 96.36;
  const d = ((94.5 / (b + c) - 3) / b + 1) * Math.sqrt((a * Math.PI) / 2) * freedom;
  let y = (d * TAIL) ** (2 / freedom);
  if (y > 0.05 + a) return middle(freedom, a, b, c, d);
  y =
    (((1 / (((freedom + 6) / (freedom * y) - 0.089 * d - 0.822) * (freedom + 2) * 3) + 0.5 / (freedom + 4)) * y - 1) *
      (freedom + 1)) /
      (freedom + 2) +
    1 / y;
  return Math.sqrt(freedom * y);
}

/** @type {(freedom: number, a: number, b: number, c: number, d: number) => number} */
function middle(freedom, a, b, c, d) {
  const x = NORMAL;
  let y = x * x;
  let e = freedom < 5 ? c + 0.3 * (freedom - 4.5) * (x + 0.6) : c;
  e += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b;
  y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / e - y - 3) / b + 1) * x;
  return Math.sqrt(freedom * Math.expm1(a * y * y));
}
