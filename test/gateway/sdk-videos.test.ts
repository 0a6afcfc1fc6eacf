import OpenAI, { toFile } from 'openai';
import { test } from 'tap';
import { type MediaGateway, startMediaGateway } from '../helper/start/media-gateway.ts';

const clientOf = ({ url }: MediaGateway, apiKey: string) =>
  new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });

test('the official SDK makes a video, waits for it, downloads it and deletes it', async (t) => {
  const world = await startMediaGateway(t);
  const account = await world.account({ credits: 10 });
  const client = clientOf(world, account.key);
  const { data: video, response } = await client.videos
    .create({ model: 'film', prompt: 'A cat', seconds: '8' })
    .withResponse();
  t.match(video, { status: 'queued', seconds: '8', model: 'film' });
  t.equal(response.headers.get('x-tollgate-charge'), '4.250000');
  t.match(await world.charged(account), {
    credits: -4_250_000,
    usage: { videoSeconds: 8, requests: 1 },
    estimated: false,
    endpoint: '/v1/videos',
    category: 'video',
    outcome: 'complete',
  });
  t.equal((await client.videos.retrieve(video.id)).status, 'in_progress');
  t.equal((await client.videos.retrieve(video.id)).status, 'completed');
  const film = Buffer.from(await (await client.videos.downloadContent(video.id)).arrayBuffer());
  t.equal(film.toString('latin1', 4, 8), 'ftyp');
  const thumbnail = await client.videos.downloadContent(video.id, { variant: 'thumbnail' });
  t.equal(thumbnail.headers.get('content-type'), 'image/png');
  t.match(await client.videos.delete(video.id), { id: video.id, deleted: true });
  await t.rejects(client.videos.retrieve(video.id), { status: 404, code: 'object_not_found' });
  t.match(await world.held(account), { balance: 5_750_000, held: 0 });
  t.equal(
    (await world.book.ledger({ accountId: account.accountId, limit: 10 })).length,
    2,
    'asking has no entry',
  );
});

test('a picture to begin with is uploaded byte for byte, in a form', async (t) => {
  const world = await startMediaGateway(t);
  const account = await world.account({ credits: 10 });
  const input_reference = await toFile(Buffer.alloc(100_000, '\r\n--x'), 'first.png', { type: 'image/png' });
  const video = await clientOf(world, account.key).videos.create({
    model: 'film-renamed',
    prompt: 'Grüße',
    seconds: '12',
    input_reference,
  });
  t.equal(video.model, 'upstream-film');
  const { body, headers } = await world.provider.request(0);
  t.match(headers['content-type'], /^multipart\/form-data/);
  t.ok(body.includes(Buffer.alloc(100_000, '\r\n--x')));
  t.match(await world.charged(account), { credits: -6_000_000, usage: { videoSeconds: 12 } });
});

test('a video that fails is refunded, whoever of the account asks, once', async (t) => {
  const world = await startMediaGateway(t);
  const account = await world.account({ credits: 10 });
  const client = clientOf(world, account.key);
  const { id } = await client.videos.create({ model: 'film', prompt: 'Please fail', seconds: '4' });
  await client.videos.retrieve(id);
  t.equal((await world.held(account)).balance, 7_750_000);
  for (let polls = 0; polls < 3; polls++) {
    t.match(await client.videos.retrieve(id), { status: 'failed', error: { code: 'demo_failure' } });
    t.match(await world.held(account), { balance: 10_000_000, held: 0 });
  }
  const [refund, charge, ...rest] = await world.book.ledger({ accountId: account.accountId, limit: 10 });
  t.equal(rest.length, 1);
  t.match(refund, {
    id: `${charge?.id}:refund`,
    type: 'refund',
    credits: 2_250_000,
    balanceAfter: 10_000_000,
    keyId: account.keyId,
    model: 'film',
    category: 'video',
    endpoint: '/v1/videos',
  });
  const usage = await world.api('GET', '/api/account/usage/?group_by=model', account.key);
  t.match(await usage.json(), { rows: [{ model: 'film', calls: 1, credits: '0.000000' }] });
  const csv = await (await world.api('GET', '/api/account/ledger/?format=csv', account.key)).text();
  t.match(csv, `${refund?.id},refund,`);
  t.match(csv, ',2.250000,10.000000,');
});
