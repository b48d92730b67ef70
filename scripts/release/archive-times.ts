/**
 * A tar archive in which all entries are of this time and nobody's, so that two archives of the same files are the same; helm writes the
 * time at which it packs.
 */
export function withFixedTimes(tar: Buffer, epochSeconds: number): Buffer {
  const out = Buffer.from(tar);
  for (let at = 0; at + BLOCK <= out.length; ) {
    const header = out.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) break;
    writeOctal(header, OWNER, 0);
    writeOctal(header, GROUP, 0);
    writeOctal(header, TIME, epochSeconds);
    for (const field of [OWNER_NAME, GROUP_NAME]) header.fill(0, field.at, field.at + field.length);
    writeChecksum(header);
    const size = Number.parseInt(header.toString('latin1', SIZE.at, SIZE.at + SIZE.length), 8);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return out;
}

/** Fields of a ustar header, POSIX.1-1988. */
const BLOCK = 512;
const OWNER = { at: 108, length: 8 };
const GROUP = { at: 116, length: 8 };
const SIZE = { at: 124, length: 12 };
const TIME = { at: 136, length: 12 };
const CHECKSUM = { at: 148, length: 8 };
const OWNER_NAME = { at: 265, length: 32 };
const GROUP_NAME = { at: 297, length: 32 };

function writeOctal(header: Buffer, { at, length }: typeof OWNER, value: number): void {
  header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, length, 'latin1');
}

/** The sum of all bytes of the header, in which the sum itself counts as blanks. */
function writeChecksum(header: Buffer): void {
  header.fill(0x20, CHECKSUM.at, CHECKSUM.at + CHECKSUM.length);
  let sum = 0;
  for (const byte of header) sum += byte;
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, CHECKSUM.at, CHECKSUM.length, 'latin1');
}
