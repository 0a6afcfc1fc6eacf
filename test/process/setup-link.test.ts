import t, { type Test } from 'tap';
import { startDemoProvider } from '../../src/demo/demo-provider.ts';
import { Browser, PASSWORD } from '../helper/clients/browser.ts';
import { type GatewayProcess, makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { newEmail } from '../helper/start/people.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';

const provider = await startDemoProvider();
t.teardown(() => provider.close());

/** The codes of the links that a gateway printed. */
const codesOf = ({ output }: GatewayProcess) =>
  [...output().matchAll(/^Dashboard {2}http:\/\/127\.0\.0\.1:\d+\/dashboard\/setup#([\w-]{22})$/gm)].map(
    ([, code]) => code,
  );

const setUp = (gateway: GatewayProcess, code: string | undefined) =>
  new Browser(gateway, { connection: 'close' }).post('/api/setup/', {
    code,
    email: newEmail(),
    name: 'Ada',
    password: PASSWORD,
  });

async function start(t: Test, env: NodeJS.ProcessEnv) {
  return await startGatewayProcess(t, makePlace(t, provider.url, env));
}

t.test(
  'without a terminal, a link is printed if SETUP_LINK is true, and by each start until it is used',
  async (t) => {
    const place = makePlace(t, provider.url, { SETUP_LINK: 'true' });
    const first = await startGatewayProcess(t, place);
    const [code, ...others] = codesOf(first);
    t.ok(code);
    t.same(others, []);
    await first.stop();
    const second = await startGatewayProcess(t, place);
    const [another] = codesOf(second);
    t.not(another, code);
    t.equal((await setUp(second, code)).status, 410, 'of an earlier start');
    t.equal((await setUp(second, another)).status, 201);
    await second.stop();
    const third = await startGatewayProcess(t, place);
    t.same(codesOf(third), []);
    t.equal((await setUp(third, another)).status, 410);
  },
);

t.test('nothing is printed by default', async (t) => {
  t.same(codesOf(await start(t, {})), []);
});

t.test('of several workers one prints the link, and it works at each', async (t) => {
  const gateway = await start(t, { SETUP_LINK: 'true', WORKERS: '2', DATABASE_URL: await createDatabase() });
  const codes = codesOf(gateway);
  t.equal(codes.length, 1);
  // Each on its own connection, so that both workers get some.
  const answers = await Promise.all(Array.from({ length: 6 }, () => setUp(gateway, codes[0])));
  t.same(answers.map(({ status }) => status).sort(), [201, 410, 410, 410, 410, 410]);
});
