import { test } from 'tap';
import { measureAudio } from '../../../src/metering/audio/measure-audio.ts';
import { inMemory, WINDOW_BYTES } from '../../../src/metering/byte-source.ts';
import {
  adtsFrame,
  flacFile,
  m4aFile,
  m4aFragment,
  oggOpus,
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
    ['WebM', webmFile(500, 10_000), measured(10)],
    ['WebM of a browser', webmFile(500), measured(10)],
    ['M4A', m4aFile(8), measured(8)],
    ['M4A of a browser', m4aFile(0, m4aFragment(100), m4aFragment(25)), measured(8)],
    ['M4A whose samples have durations', m4aFile(0, m4aFragment(10, 0.5), m4aFragment(10, 0.3)), measured(8)],
  ] as const) {
    t.same(await measure(audio), expected, name);
  }
});

test('a file lasts at least its size at 512 kbit/s, or at the rate of uncompressed sound', async (t) => {
  const sound = Buffer.alloc(640_000);
  for (const [name, audio, expected] of [
    ['FLAC', Buffer.concat([flacFile(1, 160), sound]), bounded(10)],
    ['Ogg', Buffer.concat([oggOpus(1, 480).subarray(0, 91), sound, oggOpus(2, 960)]), bounded(10)],
    ['WebM', Buffer.concat([webmFile(1, 10), sound]), bounded(10)],
    ['M4A', Buffer.concat([m4aFile(0.01), sound]), bounded(10)],
    ['MP3', Buffer.concat([mp3Frames(10), sound]), bounded(10)],
    ['WAV: bytes of sound', wav(600, (file) => file.writeUInt32LE(16_000, 40)), bounded(600)],
    ['WAV: bytes a second', wav(600, (file) => file.writeUInt32LE(2 ** 31, 28)), measured(600)],
    ['WAV: bytes a frame', wav(600, (file) => file.writeUInt16LE(60_000, 32)), measured(600)],
  ] as const) {
    const { seconds = 0, how } = await measure(audio);
    t.same({ seconds: Math.round(seconds), how }, expected, name);
  }
});

test('a container that is not read has no length', async (t) => {
  t.same(await measure(Buffer.from('caff\0\0\0\0desc')), UNMEASURABLE);
  t.same(await measure(Buffer.from('RIFF\0\0\0\0AVI LIST')), UNMEASURABLE);
  t.same(await measure(webmFile(0)), UNMEASURABLE, 'WebM without a block');
  t.same(await measure(m4aFile(0)), UNMEASURABLE, 'M4A without a sample');
  t.same(await measure(oggOpus(1, 480).subarray(0, 40)), UNMEASURABLE, 'Ogg that ends at once');
});

test('a file without audio has no length', async (t) => {
  t.same(await measure(Buffer.alloc(1_000, 7)), UNKNOWN);
  t.same(await measure(Buffer.alloc(0)), UNKNOWN);
  t.same(await measure(Buffer.alloc(500_000, 0xff)), UNKNOWN);
});

test('a file made to be slow to measure lets others have their turn with every window', async (t) => {
  for (const audio of [
    Buffer.concat([webmFile(0), Buffer.alloc(3_000_000, Buffer.from([0xec, 0x80]))]),
    m4aFile(0, m4aFragment(300_000, 0.5)),
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
