import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import t from 'tap';
import { csvEntry, csvHeader, type EntryView } from '../../src/api/ledger/entry-view.ts';
import { micro } from '../../src/domain/credits.ts';
import type { JournalEntry } from '../../src/domain/ledger-entry.ts';
import { USAGE_NAMES } from '../../src/domain/units.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { startGatewayInProcess, type TestAccount } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const CHARGES = 1_234;
const owner = await world.account({ credits: 10_000 });
await world.settled();
await charge(owner, CHARGES);

/** Posts charges to the book as the journal's drain would. */
async function charge({ accountId, keyId }: TestAccount, count: number): Promise<void> {
  const [last] = await world.book.ledger({ accountId, limit: 1 });
  const [place] = await world.book.recentAccounts(0).then((all) => all.filter(({ id }) => id === accountId));
  if (!last || !place) throw new Error('the account has no ledger yet');
  const entries = Array.from(
    { length: count },
    (_, index): JournalEntry => ({
      id: `export-${index}`,
      type: 'charge',
      accountId,
      keyId,
      createdAt: Date.now(),
      model: 'flat',
      category: 'text',
      endpoint: '/v1/chat/completions',
      status: 200,
      outcome: 'complete',
      usage: { input: 10, output: 2 },
      estimated: index % 2 === 1,
      credits: micro(-1),
      seq: last.seq + 1 + index,
      epoch: place.epoch,
      balanceAfter: micro(last.balanceAfter - 1 - index),
      day: Math.floor(Date.now() / 86_400_000),
      threshold: micro(0),
    }),
  );
  await world.book.post(entries);
}

const exported = async (query: string) => world.api('GET', `/api/account/ledger/?${query}`, owner.key);

t.test('JSON lines: the whole ledger, one entry a line, newest first', async (t) => {
  const response = await exported('format=jsonl');
  t.equal(response.headers.get('content-type'), 'application/x-ndjson; charset=utf-8');
  t.match(response.headers.get('content-disposition'), /ledger\.jsonl/);
  const text = await response.text();
  t.ok(text.endsWith('\n'));
  const entries = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as EntryView);
  t.equal(entries.length, CHARGES + 1);
  t.match(entries[0], { id: `export-${CHARGES - 1}`, credits: '-0.000001', usage: { input_tokens: 10 } });
  t.match(entries.at(-1), { type: 'top_up', credits: '10000.000000' });
  t.equal(new Set(entries.map(({ id }) => id)).size, CHARGES + 1);
});

t.test('CSV: a header, then the whole ledger in lines that end in CRLF', async (t) => {
  const response = await exported('format=csv');
  t.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8');
  const lines = (await response.text()).split('\r\n');
  t.equal(lines.length, CHARGES + 3);
  t.equal(lines.at(-1), '');
  const released =
    'id,type,created_at,key_id,model,category,endpoint,status,outcome,estimated,credits,balance_after,' +
    'input_tokens,output_tokens,cached_input_tokens,cache_write_tokens,characters,images,audio_seconds,video_seconds,requests,note,price,multiplier,upstream,duration_ms,streamed,' +
    'cache_write_1h_tokens,input_audio_tokens,cached_input_audio_tokens,output_audio_tokens,input_image_tokens,' +
    'cached_input_image_tokens,output_image_tokens,web_searches,web_search_previews,passes';
  t.ok(lines[0]?.startsWith(released), 'columns keep their places: new ones are at the end');
  for (const name of Object.values(USAGE_NAMES)) t.ok(lines[0]?.split(',').includes(name), name);
  const [first] = lines.slice(1);
  t.match(
    first,
    new RegExp(`^export-${CHARGES - 1},charge,[^,]+,${owner.keyId},flat,text,/v1/chat/completions,200,`),
  );
  t.match(first, /,complete,true,-0\.000001,9999\.998766,10,2,{23,}test,,$/);
});

t.test('an export is cut at limit, and filtered as the pages are', async (t) => {
  const lines = async (query: string) =>
    (await (await exported(`format=jsonl&${query}`)).text()).split('\n').length - 1;
  t.equal(await lines('limit=7'), 7);
  t.equal(await lines('limit=600'), 600);
  t.equal(await lines('limit=500'), 500);
  t.equal(await lines(`key_id=${owner.keyId}`), CHARGES);
  t.equal(await lines('model=nobody'), 0);
  t.equal(await lines('before=11'), 10);
});

t.test('an empty export is a header alone', async (t) => {
  t.equal(await (await exported('format=csv&model=nobody')).text(), csvHeader());
});

t.test('an export is refused as JSON, like anything else', async (t) => {
  const answer = await apiOf(world, owner.key).get('/api/account/ledger/?format=csv&limit=0');
  t.same(refusalOf(answer), [400, 'invalid_field', 'limit']);
});

t.test('a client that leaves in the middle of an export does the gateway no harm', async (t) => {
  const request = get(`${world.url}/api/account/ledger/?format=csv`, {
    headers: { authorization: `Bearer ${owner.key}` },
    agent: false,
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  await once(response, 'data');
  response.destroy();
  t.equal((await exported('format=csv&limit=1')).status, 200);
});

t.test('cells are quoted by RFC 4180, and none is a formula', async (t) => {
  const entry: EntryView = {
    id: 'a"b,c',
    type: 'charge',
    created_at: '2026-01-01T00:00:00.000Z',
    key_id: 1,
    key_name: '=key',
    member: { id: 2, name: '@ada' },
    model: '=HYPERLINK("http://x")',
    category: 'text',
    endpoint: '+1+1',
    status: 499,
    outcome: 'client_left',
    usage: { audio_seconds: 1.5 },
    estimated: true,
    credits: '-0.000123',
    balance_after: '-1.000000',
    note: '=1+1\nand "more"',
    price: { audioSecond: 0.0001, request: 0 },
    multiplier: 2,
    upstream: '@first',
    attempts: [{ target: '@first', status: 200, ms: 7 }],
    duration_ms: 7,
    first_byte_ms: null,
    streamed: false,
  };
  t.match(
    csvEntry(entry),
    '"a""b,c",charge,2026-01-01T00:00:00.000Z,1,"\'=HYPERLINK(""http://x"")",text,\'+1+1,499,client_left,true,' +
      '-0.000123,-1.000000,,,,,,,1.5,,,"\'=1+1\nand ""more""","{""audioSecond"":0.0001,""request"":0}",2,\'@first,7,false,,,,,,,,,,,"[{""target"":""@first"",""status"":200,""ms"":7}]",,\'=key,2,\'@ada',
  );
  for (const model of ['@x', '-x', '\tx', '\rx', '-1-1']) {
    t.match(csvEntry({ ...entry, model }), `'${model}`, JSON.stringify(model));
  }
});
