import OpenAI, { toFile } from 'openai';
import { test } from 'tap';
import { flacFile, m4aFile, webmFile } from '../helper/fixtures/audio-files.ts';
import { type MediaGateway, mp3Frames, silentWav, startMediaGateway } from '../helper/start/media-gateway.ts';

const PATH = '/v1/audio/transcriptions';

const clientOf = ({ url }: MediaGateway, apiKey: string) =>
  new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });

function formOf(model: string, audio: Buffer<ArrayBuffer>, fields: Record<string, string> = {}): FormData {
  const form = new FormData();
  // The file comes first: `model` may follow it.
  form.append('file', new Blob([audio]), 'speech.wav');
  for (const [name, value] of Object.entries({ model, ...fields })) form.append(name, value);
  return form;
}

test('the official SDK transcribes, in every format', async (t) => {
  const world = await startMediaGateway(t);
  const client = clientOf(world, (await world.account()).key);
  const ask = async () => ({ model: 'ears', file: await toFile(silentWav(2.5), 'speech.wav') });
  t.match((await client.audio.transcriptions.create(await ask())).text, /You sent 3 s/);
  const verbose = await client.audio.transcriptions.create({
    ...(await ask()),
    response_format: 'verbose_json',
  });
  t.equal(verbose.duration, 2.5);
  for (const [response_format, expected] of [
    ['text', /You sent 3 s of audio\.\n$/],
    ['srt', /^1\n00:00:00,000 --> 00:00:03,000\n/],
    ['vtt', /^WEBVTT\n/],
  ] as const) {
    t.match(await client.audio.transcriptions.create({ ...(await ask()), response_format }), expected);
  }
  t.match((await client.audio.translations.create(await ask())).text, /You sent 3 s/);
});

test('the SDK streams a transcript, which is charged by its last event', async (t) => {
  const world = await startMediaGateway(t, () => ({ usage: { type: 'duration', seconds: 7 } }));
  const account = await world.account();
  const stream = await clientOf(world, account.key).audio.transcriptions.create({
    model: 'ears',
    file: await toFile(silentWav(2), 'speech.wav'),
    stream: true,
  });
  let text = '';
  const types = new Set<string>();
  for await (const event of stream) {
    types.add(event.type);
    if (event.type === 'transcript.text.delta') text += event.delta;
  }
  t.match(text, /^This is .* audio\.$/);
  t.same([...types], ['transcript.text.delta', 'transcript.text.done']);
  t.match(await world.charged(account), {
    credits: -70_000,
    usage: { audioSeconds: 7 },
    outcome: 'complete',
  });
});

for (const [what, behavior, fields, usage, credits] of [
  [
    'the seconds that are reported',
    { usage: { type: 'duration', seconds: 4 } },
    {},
    { audioSeconds: 4 },
    -40_000,
  ],
  [
    'the duration of a verbose answer',
    { usage: false },
    { response_format: 'verbose_json' },
    { audioSeconds: 2.5 },
    -25_000,
  ],
  ['the measured length', { usage: false }, {}, { audioSeconds: 2.5 }, -25_000],
  ['the measured length, of text', {}, { response_format: 'text' }, { audioSeconds: 2.5 }, -25_000],
  [
    'the measured length, of text that looks like a report',
    { text: '{"usage":{"type":"duration","seconds":0}}' },
    { response_format: 'text' },
    { audioSeconds: 2.5 },
    -25_000,
  ],
  [
    'the measured length, where the report is absurd',
    { usage: { seconds: -1 } },
    {},
    { audioSeconds: 2.5 },
    -25_000,
  ],
] as const) {
  test(`a transcript is charged by ${what}`, async (t) => {
    const world = await startMediaGateway(t, () => behavior);
    const account = await world.account({ credits: 10 });
    const response = await world.post(account.key, PATH, formOf('ears', silentWav(2.5), fields));
    t.equal(response.status, 200);
    t.equal(response.headers.get('x-tollgate-charge'), `0.0${-credits / 1_000}000`);
    await response.text();
    t.match(await world.charged(account), {
      credits,
      usage,
      estimated: false,
      category: 'stt',
      endpoint: PATH,
      outcome: 'complete',
    });
    t.match(await world.held(account), { held: 0 });
  });
}

test('tokens that are reported are charged where tokens have a price', async (t) => {
  const usage = { type: 'tokens', input_tokens: 14, output_tokens: 45, total_tokens: 59 };
  const world = await startMediaGateway(t, () => ({ usage }));
  const account = await world.account();
  await (await world.post(account.key, PATH, formOf('scribe', silentWav(1)))).text();
  t.match(await world.charged(account), {
    credits: -104_000,
    usage: { input: 14, output: 45 },
    estimated: false,
  });
});

test('audio that cannot be measured, and is not reported, is charged by its size, as an estimate', async (t) => {
  const world = await startMediaGateway(t, () => ({ usage: false }));
  const account = await world.account();
  await (await world.post(account.key, PATH, formOf('ears', Buffer.alloc(7_500, 1)))).text();
  t.match(await world.charged(account), {
    credits: -100_000,
    usage: { audioSeconds: 10 },
    estimated: true,
  });
});

test('the hold is the measured length, else a bound from the size', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account({ credits: 0.5 });
  const ask = (audio: Buffer<ArrayBuffer>) => world.post(key, PATH, formOf('ears', audio));
  t.match(await (await ask(silentWav(51))).json(), {
    error: { code: 'insufficient_credits', message: /could cost 0\.51/ },
  });
  // 750 bytes a second.
  t.match(await (await ask(Buffer.alloc(51 * 750, 1))).json(), {
    error: { code: 'insufficient_credits', message: /could cost 0\.51/ },
  });
  t.equal(world.provider.requests.length, 0);
  const response = await ask(silentWav(50));
  t.equal(response.status, 200);
});

test('a report in whole seconds does not exceed the hold', async (t) => {
  const world = await startMediaGateway(t);
  const account = await world.account({ credits: 0.03 });
  t.equal((await world.post(account.key, PATH, formOf('ears', silentWav(2.1)))).status, 200);
  t.match(await world.charged(account), { credits: -30_000, usage: { audioSeconds: 3 }, balanceAfter: 0 });
});

test('the length of an MP3 comes from its frames, not from its header', async (t) => {
  const world = await startMediaGateway(t, () => ({ usage: false }));
  const account = await world.account();
  const honest = mp3Frames(1_000);
  // A Xing header in the first frame that states ten frames.
  const lying = Buffer.from(honest);
  lying.write('Xing', 36, 'latin1');
  lying.writeUInt32BE(3, 40);
  lying.writeUInt32BE(10, 44);
  lying.writeUInt32BE(4_170, 48);
  await (await world.post(account.key, PATH, formOf('ears', lying))).text();
  // 1,000 × 1,152 samples at 44.1 kHz
  t.match(await world.charged(account), { usage: { audioSeconds: 26.122449 }, estimated: false });
});

for (const [name, head] of [
  ['FLAC', flacFile(1, 160)],
  ['WebM', webmFile(1, 10)],
  ['M4A', m4aFile(0.01)],
] as const) {
  test(`${name} whose header states 10 ms is held and charged by its size`, async (t) => {
    const world = await startMediaGateway(t);
    // Ten seconds at 512 kbit/s.
    const audio = Buffer.concat([head, Buffer.alloc(640_000 - head.length)]);
    const ask = (key: string) => world.post(key, PATH, formOf('ears', audio, { response_format: 'text' }));
    const poor = await world.account({ credits: 0.09 });
    t.match(await (await ask(poor.key)).json(), { error: { code: 'insufficient_credits' } });
    const account = await world.account({ credits: 1 });
    t.equal((await ask(account.key)).status, 200);
    t.match(await world.charged(account), {
      credits: -100_000,
      usage: { audioSeconds: 10 },
      estimated: true,
    });
  });
}

test('audio that cannot be measured is refused if the answer has no length, or its format no bound', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  const junk = Buffer.alloc(7_500, 1);
  const unmeasurable = Buffer.concat([Buffer.from('caff'), junk]);
  for (const [audio, fields] of [
    [junk, { response_format: 'text' }],
    [junk, { response_format: 'srt' }],
    [unmeasurable, {}],
  ] as const) {
    const response = await world.post(key, PATH, formOf('ears', audio, fields));
    t.equal(response.status, 400);
    t.match(await response.json(), {
      error: { code: 'invalid_field', param: 'file', message: /Send FLAC, M4A, MP3/ },
    });
  }
  t.equal(world.provider.requests.length, 0);
});

test('the model behind the file gets its longer upstream name, and its length is right', async (t) => {
  const world = await startMediaGateway(t);
  const account = await world.account();
  const response = await world.post(account.key, PATH, formOf('ears-renamed', silentWav(1)));
  t.equal(response.status, 200);
  const { body, headers } = await world.provider.request(0);
  t.equal(headers['content-length'], String(body.length));
  const received = await new Response(new Uint8Array(body), {
    headers: { 'content-type': headers['content-type'] ?? '' },
  }).formData();
  t.equal(received.get('model'), 'upstream-ears-with-a-longer-name');
  const file = received.get('file') as File;
  t.ok(Buffer.from(await file.arrayBuffer()).equals(silentWav(1)));
});

test('sound was charged by the file beside an address that the provider could hear', async (t) => {
  const world = await startMediaGateway(t);
  const { key } = await world.account();
  const before = world.provider.requests.length;
  for (const name of [
    'url',
    'file_url',
    'audio_url',
    'cloud_storage_url',
    'source_url',
    'source',
    'Source',
    'FILE_URI',
    'file_urls[]',
    '\u017fource',
    'audioUrl',
  ]) {
    const form = formOf('ears', silentWav(1), {
      [name]: 'https://example.com/long.mp3',
      response_format: 'text',
    });
    const response = await world.post(key, PATH, form);
    t.equal(response.status, 400, name);
    t.match(await response.json(), { error: { code: 'invalid_field', param: name } });
  }
  t.equal(world.provider.requests.length, before);
  const form = formOf('ears', silentWav(1), { prompt: 'https://example.com', resource: 'a' });
  t.equal((await world.post(key, PATH, form)).status, 400, 'resource ends so, too');
});
