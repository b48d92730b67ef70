import type { Random } from '../../runtime/random.ts';

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** A random (version 4) UUID. */
export function newUid(random: Random): string {
  const words = [random(), random(), random(), random()].map((value) => Math.floor(value * 2 ** 32));
  const byte = (index: number): number => ((words[index >>> 2] ?? 0) >>> ((index & 3) * 8)) & 0xff;
  const hex = (index: number): string => HEX[byte(index)] ?? '00';
  const run = (from: number, to: number): string => {
    let text = '';
    for (let index = from; index < to; index++) text += hex(index);
    return text;
  };
  const version = HEX[(byte(6) & 0x0f) | 0x40] ?? '';
  const variant = HEX[(byte(8) & 0x3f) | 0x80] ?? '';
  return `${run(0, 4)}-${run(4, 6)}-${version}${hex(7)}-${variant}${hex(9)}-${run(10, 16)}`;
}
