import { test } from 'tap';
import { BODY, codeOf, counted, create, made, PATH } from '../helper/clients/films.ts';
import { startMediaGateway } from '../helper/start/media-gateway.ts';

test('the hold is exact, by text or number, and four seconds where none are named', async (t) => {
  const world = await startMediaGateway(t, () => undefined);
  for (const [seconds, cost] of [
    ['8', '4.250000'],
    [8, '4.250000'],
    [undefined, '2.250000'],
  ] as const) {
    const poor = await world.account({ credits: Number(cost) - 0.000001 });
    const refused = await create(world, poor.key, { seconds });
    t.match(await refused.json(), {
      error: { code: 'insufficient_credits', message: `could cost ${Number(cost)}.` },
    });
    const rich = await world.account({ credits: Number(cost) });
    t.equal((await create(world, rich.key, { seconds })).headers.get('x-tollgate-charge'), cost);
  }
});

test('seconds that are no whole number above 0 are refused, and so are two of them', async (t) => {
  const world = await startMediaGateway(t, () => undefined);
  const { key } = await world.account();
  for (const seconds of ['', '0', 0, -4, 1.5, '4s', ' 4', '1e3', 4000, true, ['4'], { a: 1 }]) {
    const response = await create(world, key, { seconds });
    t.match(
      await response.json(),
      { error: { code: 'invalid_field', param: 'seconds' } },
      JSON.stringify(seconds),
    );
  }
  for (const more of ['"seconds":"12"', '"Seconds":"12"', '"second\\u0073":12']) {
    const body = `{"model":"film","prompt":"x","seconds":"4",${more}}`;
    t.equal(await codeOf(await world.post(key, PATH, body)), '400 invalid_json', more);
  }
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...BODY, seconds: '4' })) form.append(name, value);
  form.append('seconds', '12');
  t.equal(await codeOf(await world.post(key, PATH, form)), '400 invalid_json');
  t.equal(world.provider.requests.length, 0);
});

test('the seconds that the answer names win', async (t) => {
  const world = await startMediaGateway(t, () => ({
    body: { id: 'video_12_s', status: 'queued', seconds: '12' },
  }));
  const account = await world.account();
  await (await create(world, account.key, { seconds: 8 })).text();
  t.match(await world.charged(account), {
    credits: -6_250_000,
    usage: { videoSeconds: 12 },
    estimated: false,
  });
});

test('seconds that nobody named are an estimate', async (t) => {
  const world = await startMediaGateway(t, () => ({ body: { id: 'video_of_none', status: 'queued' } }));
  const account = await world.account();
  await (await create(world, account.key)).text();
  t.match(await world.charged(account), { credits: -2_250_000, usage: { videoSeconds: 4 }, estimated: true });
});

test('a job that is not accepted costs nothing', async (t) => {
  for (const behavior of [
    { status: 400, body: { error: {} } },
    { body: { object: 'video' } },
    { body: 'no JSON' },
  ]) {
    const world = await startMediaGateway(t, () => behavior);
    const account = await world.account({ credits: 10 });
    await (await create(world, account.key)).text();
    t.match(await world.charged(account), { credits: 0, outcome: 'upstream_error' });
    t.match(await world.held(account), { balance: 10_000_000, held: 0 });
  }
});

test('a job that fails immediately costs nothing and can be read', async (t) => {
  const failed = { id: 'video_1', object: 'video', status: 'failed', seconds: '4' };
  const world = await startMediaGateway(t, () => ({ body: failed }));
  const account = await world.account({ credits: 10 });
  t.equal(await made(world, account.key), 'video_1');
  t.match(await (await world.api('GET', `${PATH}/video_1`, account.key)).json(), failed);
  t.match(await world.held(account), { balance: 10_000_000, held: 0 });
  await counted(t, world, account.accountId, { top_up: 1, charge: 1 });
});

test('a body read as JSON is sent as JSON, so that no upstream finds a form in it', async (t) => {
  const world = await startMediaGateway(t, () => undefined);
  const { key } = await world.account();
  const body = '{"model":"film","prompt":"&model=film-renamed&"}';
  await (await world.post(key, PATH, body, { 'content-type': 'application/x-www-form-urlencoded' })).text();
  t.equal((await world.provider.request(0)).headers['content-type'], 'application/json');
});

test('files and characters of the provider belong to no account here', async (t) => {
  const world = await startMediaGateway(t, () => undefined);
  const { key } = await world.account();
  for (const body of [
    { input_reference: { file_id: 'file-1' } },
    { input_reference: 'file-1' },
    { characters: [{ id: 'char_1' }] },
    { remixed_from_video_id: 'video_1' },
  ]) {
    t.equal(await codeOf(await create(world, key, body)), '404 object_not_found', JSON.stringify(body));
  }
  const form = new FormData();
  for (const [name, value] of Object.entries(BODY)) form.append(name, value);
  form.append('input_reference[file_id]', 'file-1');
  t.equal(await codeOf(await world.post(key, PATH, form)), '404 object_not_found');
  t.equal(world.provider.requests.length, 0);
  const picture = { input_reference: { image_url: 'data:image/png;base64,AAAA' } };
  t.equal((await create(world, key, picture)).status, 200);
});

test('a large picture goes the same way, in JSON and in a form', async (t) => {
  const world = await startMediaGateway(t, () => undefined);
  const account = await world.account({ credits: 20 });
  const picture = { image_url: `data:image/png;base64,${'A'.repeat(3_000_000)}` };
  for (const input_reference of [picture, picture.image_url]) {
    const id = await made(world, account.key, { seconds: '12', input_reference });
    t.match(await world.charged(account), { credits: -6_250_000, usage: { videoSeconds: 12 } });
    t.equal((await world.api('GET', `${PATH}/${id}`, account.key)).status, 200);
  }
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...BODY, seconds: '4' })) form.append(name, value);
  form.append('input_reference', new Blob([Buffer.alloc(3_000_000)]), 'first.png');
  t.equal((await world.post(account.key, PATH, form)).headers.get('x-tollgate-charge'), '2.250000');
  const hidden = { input_reference: { ...picture, file_id: 'file-1' } };
  t.equal(await codeOf(await create(world, account.key, hidden)), '404 object_not_found');
});
