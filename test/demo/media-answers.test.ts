import OpenAI, { toFile } from 'openai';
import { type Test, test } from 'tap';
import { startDemoProvider } from '../../src/demo/demo-provider.ts';
import { toneWav, wavSeconds } from '../../src/demo/speech.ts';
import { measureAudio } from '../../src/metering/audio/measure-audio.ts';
import { inMemory } from '../../src/metering/byte-source.ts';

async function clientOf(t: Test): Promise<OpenAI> {
  const provider = await startDemoProvider();
  t.teardown(() => provider.close());
  return new OpenAI({ apiKey: 'none', baseURL: `${provider.url}/v1` });
}

test('pictures are PNG files of the requested size', async (t) => {
  const client = await clientOf(t);
  const request = { model: 'demo-image', prompt: 'A cat', n: 2 } as const;
  for (const [size, width, height] of [
    ['1536x1024', 1_536, 1_024],
    ['auto', 1_024, 1_024],
  ] as const) {
    const { data = [] } = await client.images.generate({ ...request, size });
    t.equal(data.length, 2);
    for (const { b64_json = '' } of data) {
      const png = Buffer.from(b64_json, 'base64');
      t.equal(png.toString('latin1', 1, 4), 'PNG');
      t.same([png.readUInt32BE(16), png.readUInt32BE(20)], [width, height]);
    }
  }
});

test('speech is a WAV file as long as the text, and can be transcribed', async (t) => {
  const client = await clientOf(t);
  const speech = await client.audio.speech.create({
    model: 'demo-tts',
    voice: 'alloy',
    input: 'x'.repeat(40),
  });
  const wav = Buffer.from(await speech.arrayBuffer());
  t.equal(wavSeconds(wav), 2);
  const file = await toFile(wav, 'speech.wav');
  const transcript = await client.audio.transcriptions.create({ model: 'demo-stt', file });
  t.match(transcript, { text: /2 s of audio/, usage: { type: 'duration', seconds: 2 } });
});

test('speech is a file of the requested format, or refused', async (t) => {
  const client = await clientOf(t);
  const speak = async (response_format: 'mp3' | 'aac' | 'pcm' | 'opus') => {
    const request = { model: 'demo-tts', voice: 'alloy', input: 'x'.repeat(40), response_format };
    const response = await client.audio.speech.create(request);
    return { type: response.headers.get('content-type'), bytes: Buffer.from(await response.arrayBuffer()) };
  };
  for (const [format, mime] of [
    ['mp3', 'audio/mpeg'],
    ['aac', 'audio/aac'],
  ] as const) {
    const { type, bytes } = await speak(format);
    t.equal(type, mime);
    const { seconds = 0 } = await measureAudio(inMemory(bytes));
    t.ok(Math.abs(seconds - 2) < 0.05, `${format}: ${seconds} s`);
  }
  const pcm = await speak('pcm');
  t.equal(pcm.type, 'audio/pcm');
  t.equal(pcm.bytes.length, 2 * 24_000 * 2);
  await t.rejects(speak('opus'), { status: 400, message: /wav, pcm, mp3, aac/ });
});

test('a tone is a tone', async (t) => {
  const wav = toneWav(0.5);
  t.equal(wav.length, 44 + 8_000);
  t.equal(wavSeconds(wav), 0.5);
  t.ok(wav.subarray(44).some((byte) => byte !== 0));
  t.equal(wavSeconds(Buffer.from('not a wav')), undefined);
});

test('requests that are no JSON and no form, or name no model, are refused', async (t) => {
  const provider = await startDemoProvider();
  t.teardown(() => provider.close());
  for (const [body, type] of [
    ['{', 'application/json'],
    ['{}', 'application/json'],
    ['x', 'multipart/form-data; boundary=y'],
  ] as const) {
    const response = await fetch(`${provider.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    });
    t.equal(response.status, 400);
  }
});

test('a video is queued, in progress, completed, and a film of its length', async (t) => {
  const client = await clientOf(t);
  const made = await client.videos.create({ model: 'demo-video', prompt: 'A cat', seconds: '8' });
  t.match(made, { status: 'queued', seconds: '8', object: 'video' });
  await t.rejects(client.videos.downloadContent(made.id), { message: /not completed/ });
  t.match(await client.videos.retrieve(made.id), { status: 'in_progress' });
  t.match(await client.videos.retrieve(made.id), { status: 'completed', progress: 100 });
  const film = Buffer.from(await (await client.videos.downloadContent(made.id)).arrayBuffer());
  t.equal(film.readUInt32BE(0) + film.readUInt32BE(film.readUInt32BE(0)), film.length, 'two boxes, whole');
  const header = film.indexOf('mvhd') + 4;
  t.equal(film.readUInt32BE(header + 16) / film.readUInt32BE(header + 12), 8);
  t.match(await client.videos.delete(made.id), { deleted: true });
  await t.rejects(client.videos.retrieve(made.id), { message: /no video/ });
});

test('a video whose prompt says so fails', async (t) => {
  const client = await clientOf(t);
  const { id } = await client.videos.create({ model: 'demo-video', prompt: 'Fail, please' });
  t.match(await client.videos.retrieve(id), { status: 'in_progress', error: null });
  t.match(await client.videos.retrieve(id), { status: 'failed', error: { code: 'demo_failure' } });
});
