import { test } from 'tap';
import { audioSeconds as secondsOf } from '../../src/gateway/audio/audio-seconds.ts';
import { inMemory } from '../../src/gateway/upload/byte-source.ts';
import { mp3Frames, silentWav } from '../helper/media-world.ts';

const audioSeconds = (audio: Buffer) => secondsOf(inMemory(audio));

test('a length is measured from the audio, and where it cannot be, there is none', async (t) => {
  const tag = Buffer.from('ID3\x04\x00\x00\x00\x00\x00\x05hello', 'latin1');
  t.equal(await audioSeconds(silentWav(1.25)), 1.25);
  t.equal(await audioSeconds(Buffer.concat([tag, mp3Frames(100)])), 2.612245);
  const streamed = silentWav(3);
  streamed.writeUInt32LE(0xffff_ffff, 40);
  t.ok(Math.abs(((await audioSeconds(streamed)) ?? 0) - 3) < 0.01, 'a recorder that did not know its length');
  t.equal(await audioSeconds(flac(441_000)), 10);
  t.equal(await audioSeconds(oggOpus(500, 960)), 10);
  t.equal(await audioSeconds(Buffer.alloc(1_000, 7)), undefined);
  t.equal(await audioSeconds(Buffer.alloc(0)), undefined);
  t.equal(await audioSeconds(Buffer.alloc(500_000, 0xff)), undefined);
});

test('a file made to be slow to measure holds up nobody, and is not measured', async (t) => {
  let turns = 0;
  let isMeasuring = true;
  const count = () => {
    turns++;
    if (isMeasuring) setImmediate(count);
  };
  setImmediate(count);
  const seconds = await audioSeconds(oggOpus(120_000, 960));
  isMeasuring = false;
  t.equal(seconds, undefined);
  t.ok(turns > 100, `${turns} turns for others`);
});

/** The head of a FLAC file of that many samples at 44.1 kHz, stereo, 16 bit. */
function flac(samples: number): Buffer {
  const head = Buffer.alloc(42);
  head.write('fLaC', 0);
  head.writeUInt32BE(0x8000_0022, 4);
  head.writeUInt16BE(4_096, 8);
  head.writeUInt16BE(4_096, 10);
  head.writeUInt32BE((44_100 << 12) | (1 << 9) | (15 << 4), 18);
  head.writeUInt32BE(samples, 22);
  return Buffer.concat([head, Buffer.alloc(1_000)]);
}

/** An Ogg file of Opus whose pages are empty, but state that so many samples (of 48,000 a second) have passed. */
function oggOpus(pages: number, samplesAPage: number): Buffer {
  const page = (number: number, content: Buffer, type = 0) => {
    const head = Buffer.alloc(28);
    head.write('OggS', 0);
    head[5] = type;
    head.writeBigUInt64LE(BigInt(Math.max(0, number - 1) * samplesAPage), 6);
    head.writeUInt32LE(1, 14);
    head.writeUInt32LE(number, 18);
    head[26] = 1;
    head[27] = content.length;
    return Buffer.concat([head, content]);
  };
  const opusHead = Buffer.from('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1');
  const opusTags = Buffer.from('OpusTags\0\0\0\0\0\0\0\0', 'latin1');
  return Buffer.concat([
    page(0, opusHead, 2),
    page(1, opusTags),
    ...Array.from({ length: pages }, (_, index) =>
      page(index + 2, Buffer.alloc(0), index === pages - 1 ? 4 : 0),
    ),
  ]);
}
