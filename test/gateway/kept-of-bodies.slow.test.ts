import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Test, test } from 'tap';
import { keptBytes } from '../helper/check/kept-bytes.ts';
import { until } from '../helper/check/until.ts';
import { type WorstShape, worstJson } from '../helper/fixtures/worst-json.ts';
import { startGatewayInProcess, testCatalog } from '../helper/start/gateway-in-process.ts';

const CALLS = 120;
const BODY_BYTES = 64 * 1024;
/** What calls may keep: three times what was sent, plus sockets and the gateway's own state. */
const MOST_BYTES = 3 * CALLS * BODY_BYTES + 20e6;

/** A provider that reads each request to its end and answers only when told to. */
async function startSilentProvider(t: Test) {
  let waiting = 0;
  const answers: (() => void)[] = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      waiting++;
      answers.push(() => response.end('{"usage":{"prompt_tokens":1,"completion_tokens":1}}'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    waiting: () => waiting,
    answerAll: () => {
      for (const answer of answers) answer();
    },
  };
}

const SHAPES: readonly (readonly [WorstShape, string])[] = [
  ['empty objects', 'x'],
  ['tiny parts', 'messages'],
  ['strings of two letters', 'messages'],
  ['objects of one name each', 'tools_of_ours'],
  ['one text', 'x'],
];

test('900 calls of 64 KB in flight ended the process: parsed bodies stayed with their calls', async (t) => {
  const provider = await startSilentProvider(t);
  const { url, account } = await startGatewayInProcess(t, { config: { catalog: testCatalog(provider.url) } });
  const { key } = await account({ credits: 10_000 });
  const bodies = SHAPES.map(([shape, field]) => worstJson(shape, BODY_BYTES, field, '"model":"flat",'));
  const send = (body: Buffer) =>
    new Promise<number>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'content-length': body.length };
      const outgoing = httpRequest(`${url}/v1/chat/completions`, { method: 'POST', headers });
      outgoing.on('error', reject).on('response', (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      outgoing.end(body);
    });
  const before = keptBytes();
  const answered = Array.from({ length: CALLS }, (_, index) => send(bodies[index % bodies.length] as Buffer));
  await until('all calls at the provider', () => provider.waiting() === CALLS);
  const grown = keptBytes() - before;
  t.ok(grown < MOST_BYTES, `${Math.round(grown / CALLS / 1024)} KB a call`);
  provider.answerAll();
  t.same(new Set(await Promise.all(answered)), new Set([200]));
});
