/** Table of the CRC-32 of RFC 3533: polynomial 0x04c11db7, not reflected, so that zlib's CRC-32 cannot be used. */
const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc;
});
const CRC_AT = 22;

/** Checksum of an Ogg page, in which the four bytes of the checksum itself count as zeros. */
export function oggCrc(page: Buffer): number {
  let crc = 0;
  for (let at = 0; at < page.length; at++) {
    const byte = at >= CRC_AT && at < CRC_AT + 4 ? 0 : (page[at] as number);
    crc = (crc << 8) ^ (TABLE[(crc >>> 24) ^ byte] as number);
  }
  return crc >>> 0;
}
