import { test } from 'tap';
import type { Model } from '../../src/domain/catalog.ts';
import { UnknownMembers } from '../../src/gateway/request/members.ts';
import { startGatewayInProcess, testCatalog, testConfig } from '../helper/start/gateway-in-process.ts';

async function refused(response: Response): Promise<unknown[]> {
  const { error } = (await response.json()) as { error: { code: string; param: string; message: string } };
  return [response.status, error.code, error.param, /Leave it out/.test(error.message)];
}

const RESPONSE = { model: 'tokens', input: 'a' };
const BETAS = [
  'responses_multi_agent=v1',
  'assistants=v2, responses_multi_agent=v1',
  'responses_multi_agent=v2,other=v1',
  'a=b , Responses_Multi_Agent',
];

test('the header that turns subagents on is refused at any place of its list before anything is sent', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  const send = (beta: string) =>
    fetch(`${world.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'openai-beta': beta },
      body: JSON.stringify(RESPONSE),
    });
  for (const beta of BETAS)
    t.same(await refused(await send(beta)), [400, 'unpriced_parameter', 'OpenAI-Beta', true], beta);
  t.same(
    await refused(
      await world.api('POST', '/v1/responses', key, { ...RESPONSE, Multi_Agent: { enabled: false } }),
    ),
    [400, 'unpriced_parameter', 'multi_agent', true],
  );
  t.equal(world.provider.requests.length, 0);
  t.not((await send('assistants=v2, not_responses_multi_agent=v1')).status, 400);
});

test('pricing.unpriced: pass lets subagents through', async (t) => {
  const config = testConfig('unused', 'http://127.0.0.1').pricing;
  const world = await startGatewayInProcess(t, { config: { pricing: { ...config, unpriced: 'pass' } } });
  const { key } = await world.account();
  t.equal((await world.chat(key, { multi_agent: { enabled: true } })).status, 200);
});

test('an unknown member is reported once a day and name; an account has 20 names a day', async (t) => {
  const lines: object[] = [];
  const none = () => {};
  const log = { debug: none, info: none, error: none, warn: (line: object) => lines.push(line) };
  const model = testCatalog('http://127.0.0.1').get('tokens') as Model;
  const counted: string[] = [];
  const reports = new UnknownMembers((name) => counted.push(name));
  const day = 86_400_000;
  reports.note(['a', 'b'], model, 1, log, 10 * day);
  reports.note(['a'], model, 2, log, 11 * day - 1);
  t.same(lines, [
    { member: 'a', model: 'tokens' },
    { member: 'b', model: 'tokens' },
  ]);
  reports.note(['a'], model, 1, log, 11 * day);
  t.equal(lines.length, 3, 'again on the next day');
  t.same(counted, ['a', 'b', 'a'], 'the metric counts what the log says');
  const many = Array.from({ length: 2_000 }, (_, index) => `x${index}`);
  reports.note(many, model, 1, log, 11 * day);
  t.equal(lines.length, 2 + 20);
  reports.note(['a_new_billable_field'], model, 2, log, 11 * day);
  t.match(
    lines.at(-1),
    { member: 'a_new_billable_field' },
    'made-up names of one account hide none of another',
  );
});
