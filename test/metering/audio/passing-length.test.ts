import { test } from 'tap';
import { measureAudio } from '../../../src/metering/audio/measure-audio.ts';
import { passingSound } from '../../../src/metering/audio/passing-length.ts';
import { inMemory } from '../../../src/metering/byte-source.ts';
import { adtsFrame, flacFile, oggOpus } from '../../helper/fixtures/audio-files.ts';
import { mp3Frames, silentWav } from '../../helper/start/media-gateway.ts';

const ID3 = Buffer.from([...Buffer.from('ID3\x04\0\0'), 0, 0, 0, 20, ...new Uint8Array(20).fill(0xff)]);
/** A streamed WAV file: the size of its data is unknown when the header is sent. */
const streamedWav = (() => {
  const file = Buffer.from(silentWav(2));
  file.writeUInt32LE(0xffff_ffff, file.indexOf('data') + 4);
  return file;
})();

const FILES: Readonly<Record<string, Buffer>> = {
  'a WAV file': silentWav(2),
  'a WAV file without its length': streamedWav,
  'frames of MP3': mp3Frames(130),
  'frames of MP3 behind a tag': Buffer.concat([ID3, mp3Frames(130)]),
  'frames of AAC': Buffer.concat(Array.from({ length: 40 }, () => adtsFrame(100))),
  'pages of Opus': oggOpus(50, 48_000),
  'frames of FLAC': flacFile(20, 20 * 4_096),
  'frames of FLAC without their number': flacFile(20, 0),
};

for (const [what, file] of Object.entries(FILES)) {
  test(`${what} have the length of the whole file, however they are cut`, async (t) => {
    const { seconds = 0 } = await measureAudio(inMemory(file));
    t.ok(seconds > 0);
    for (const pieceBytes of [1, 7, 100, 1_000, file.length]) {
      const sound = passingSound('mp3');
      for (let at = 0; at < file.length; at += pieceBytes) sound.push(file.subarray(at, at + pieceBytes));
      const passed = sound.seconds ?? 0;
      t.ok(Math.abs(passed - seconds) < 0.03, `${passed} of ${seconds} in pieces of ${pieceBytes}`);
    }
  });
}

test('raw samples are 24,000 a second, and unknown formats have no length', async (t) => {
  const samples = passingSound('pcm');
  samples.push(Buffer.alloc(72_000));
  t.equal(samples.seconds, 1.5);
  const text = passingSound('mp3');
  text.push(Buffer.from('{"error": "this is no sound at all"}'));
  t.equal(text.seconds, undefined);
  t.equal(passingSound('mp3').seconds, undefined, 'nothing came');
});
