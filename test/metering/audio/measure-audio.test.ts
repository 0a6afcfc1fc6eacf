import { test } from 'tap';
import { measureAudio } from '../../../src/metering/audio/measure-audio.ts';
import { inMemory, WINDOW_BYTES } from '../../../src/metering/byte-source.ts';
import {
  adtsFrame,
  flacFile,
  LACED,
  m4aFile,
  oggOpus,
  oggPage,
  webmFile,
} from '../../helper/fixtures/audio-files.ts';
import { mp3Frames, silentWav } from '../../helper/start/media-gateway.ts';

const measure = (audio: Buffer) => measureAudio(inMemory(audio));
const measured = (seconds: number) => ({ seconds, how: 'measured' });
const bounded = (seconds: number) => ({ seconds, how: 'bounded' });
const UNMEASURABLE = { seconds: undefined, how: 'unmeasurable' };
const UNKNOWN = { seconds: undefined, how: 'unknown' };

/** A WAV file of 16 kB a second with one header field set by an attacker. */
function wav(seconds: number, edit: (wav: Buffer) => void = () => {}): Buffer {
  const file = silentWav(seconds);
  edit(file);
  return file;
}

test('an honest file is as long as its content', async (t) => {
  const tag = Buffer.from('ID3\x04\x00\x00\x00\x00\x00\x05hello', 'latin1');
  // 20,000 bytes, in seven bits a byte.
  const longTag = Buffer.concat([
    Buffer.from('ID3\x04\x00\x00\x00\x01\x1c\x20', 'latin1'),
    Buffer.alloc(20_000),
  ]);
  for (const [name, audio, expected] of [
    ['WAV', wav(1.25), measured(1.25)],
    [
      'WAV of a recorder that did not know its length',
      wav(3, (file) => file.writeUInt32LE(0xffff_ffff, 40)),
      measured(3),
    ],
    ['WAV with a tag behind it', Buffer.concat([wav(2), Buffer.from('LIST\x04\0\0\0INFO')]), measured(2)],
    ['MP3 behind a tag', Buffer.concat([tag, mp3Frames(100)]), measured(2.612245)],
    ['MP3 behind a long tag', Buffer.concat([longTag, mp3Frames(100)]), measured(2.612245)],
    ['MP3 behind padding', Buffer.concat([Buffer.alloc(500), mp3Frames(100)]), measured(2.612245)],
    ['AAC', Buffer.concat(Array.from({ length: 125 }, () => adtsFrame(90))), measured(8)],
    ['FLAC', flacFile(125, 512_000), measured(32)],
    ['FLAC from a pipe', flacFile(125, 0), measured(32)],
    ['Ogg', oggOpus(500, 480_000), measured(10)],
    ['Ogg whose last packet is cut', oggOpus(500, 479_500), measured(9.989583)],
    ['WebM', webmFile(500, 10_000), measured(10)],
    ['WebM of a browser', webmFile(500), measured(10)],
    ...Object.entries(LACED).map(
      ([lacing, block]) =>
        [`WebM, ${lacing} lacing`, webmFile(500, 30_000, 'A_OPUS', block), measured(30)] as const,
    ),
    ['M4A', m4aFile(125, 8), measured(8)],
  ] as const) {
    t.same(await measure(audio), expected, name);
  }
});

test('a file whose header states a hundredth of its length is as long as decoders play it', async (t) => {
  for (const [name, audio, expected] of [
    ['FLAC: total samples', flacFile(2_500, 16_000), bounded(640)],
    ['Ogg: granule position', oggOpus(30_000, 2_880), bounded(600)],
    ['WebM: duration', webmFile(30_000, 10), bounded(600)],
    ['M4A: duration', m4aFile(9_375, 0.01), bounded(600)],
    ['WAV: bytes a second', wav(600, (file) => file.writeUInt32LE(2 ** 31, 28)), measured(600)],
    ['WAV: bytes a frame', wav(600, (file) => file.writeUInt16LE(60_000, 32)), bounded(600)],
    ['WAV: bytes a frame, fewer', wav(600, (file) => file.writeUInt16LE(1, 32)), bounded(1_200)],
    ['WAV: no size', wav(600, (file) => file.writeUInt32LE(0, 40)), measured(600)],
    ['WAV: two pieces of sound', Buffer.concat([wav(1), wav(599).subarray(36)]), measured(600)],
  ] as const) {
    t.same(await measure(audio), expected, name);
  }
});

test('a file that states more than it holds is as long as it states, as a bound', async (t) => {
  t.same(await measure(flacFile(125, 5_120_000)), bounded(320));
  t.same(await measure(oggOpus(500, 4_800_000)), bounded(99.82));
  t.same(await measure(webmFile(500, 60_000)), bounded(60));
  t.same(await measure(m4aFile(125, 60)), bounded(60));
});

test('two files in one are as long as both', async (t) => {
  t.same(await measure(Buffer.concat([oggOpus(500, 480_000), oggOpus(500, 480_000)])), measured(20));
  t.same(await measure(Buffer.concat([mp3Frames(100), mp3Frames(100)])), measured(5.22449));
  t.same(await measure(Buffer.concat([flacFile(125, 512_000), flacFile(125, 512_000)])), bounded(64));
});

test('frames that hide in longer frames are found, or the file is refused', async (t) => {
  // Layer I, 448 kbit/s, 32 kHz: 672 bytes for 12 ms, in which eight frames of 8 kHz speech would fit.
  const speech = Buffer.alloc(72);
  speech.set([0xff, 0xe3, 0x18, 0xc0]);
  const cover = Buffer.alloc(672);
  cover.set([0xff, 0xff, 0xe8, 0xc0]);
  for (let at = 4; at + 72 <= cover.length; at += 72) cover.set(speech, at);
  const { seconds } = await measure(
    Buffer.concat([speech, speech, ...Array.from({ length: 100 }, () => cover)]),
  );
  t.ok((seconds ?? 0) > 900 * 0.07, `${seconds} s`);
  t.same(await measure(Buffer.concat([adtsFrame(2_000), adtsFrame(2_000)])), UNMEASURABLE, 'ADTS');
  t.same(await measure(m4aFile(10, 0.64, 100_000)), UNMEASURABLE, 'a sample of M4A that holds a thousand');
});

test('audio that decoders could read in two ways is not measured', async (t) => {
  const page = oggPage(2, Buffer.alloc(200), 960);
  page.writeUInt32LE(0, 22);
  const [head, tags] = [oggOpus(1, 960).subarray(0, 47), oggOpus(1, 960).subarray(47, 91)];
  t.same(await measure(Buffer.concat([head, tags, page])), UNMEASURABLE, 'an Ogg page with a wrong checksum');
  t.same(await measure(webmFile(10, 200, 'A_QUICKTIME')), UNMEASURABLE, 'a codec that is not known');
  t.same(await measure(Buffer.from('caff\0\0\0\0desc')), UNMEASURABLE, 'a container that is not counted');
  t.same(await measure(Buffer.from('RIFF\0\0\0\0AVI LIST')), UNMEASURABLE);
});

test('a file without audio has no length', async (t) => {
  t.same(await measure(Buffer.alloc(1_000, 7)), UNKNOWN);
  t.same(await measure(Buffer.alloc(0)), UNKNOWN);
  t.same(await measure(Buffer.alloc(500_000, 0xff)), UNKNOWN);
});

test('a file made to be slow to measure lets others have their turn with every window', async (t) => {
  for (const audio of [
    oggOpus(100_000, 960, Buffer.alloc(0)),
    Buffer.concat([webmFile(0).subarray(0, -8), Buffer.alloc(3_000_000, Buffer.from([0xec, 0x80]))]),
    Buffer.concat([flacFile(1, 0), Buffer.alloc(3_000_000, flacFile(1, 0).subarray(42, 48))]),
  ]) {
    let turns = 0;
    let isMeasuring = true;
    const count = () => {
      turns++;
      if (isMeasuring) setImmediate(count);
    };
    setImmediate(count);
    await measure(audio);
    isMeasuring = false;
    t.ok(turns >= audio.length / WINDOW_BYTES, `${turns} turns for others`);
  }
});
