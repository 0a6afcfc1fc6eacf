import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openBook } from '../../src/book/open-book.ts';
import { Browser, PASSWORD } from '../helper/clients/browser.ts';
import { startGatewayForCommands, tollgate } from '../helper/start/command.ts';
import { newEmail } from '../helper/start/people.ts';

const { gateway, operator, json } = await startGatewayForCommands(t);

async function create(): Promise<string> {
  const email = newEmail();
  const { link } = await json<{ link: string }>('person', 'create', email);
  await setPassword(link);
  return email;
}

const setPassword = (link: string) =>
  new Browser(gateway).post('/api/session/reset/', { secret: link.split('#')[1], password: PASSWORD });

t.test('an operator is created by a link, and listed', async (t) => {
  const email = newEmail();
  const { code, output } = await operator('person', 'create', '--operator', email);
  t.equal(code, 0);
  const [, secret] = output.trim().split(`${gateway.url}/dashboard/setup#`);
  const body = { code: secret, email, name: 'Ada', password: PASSWORD };
  t.equal((await new Browser(gateway).post('/api/setup/', body)).status, 201);
  const list = await operator('person', 'list');
  t.match(list.output.split('\n')[0], /^ID +E-MAIL +NAME +OPERATOR +ACTIVE +CREATED +LAST SEEN$/);
  t.match(list.output, new RegExp(`${email} +Ada +yes +yes`));
  const again = await operator('person', 'create', '--operator', email);
  t.match(again, { code: 1, errors: /email_taken/ });
});

t.test('a password is reset; a person is deactivated, and erased', async (t) => {
  const email = await create();
  const signIn = async () => (await new Browser(gateway).signIn(email)).status;
  t.equal(await signIn(), 200);
  const { output } = await operator('person', 'reset', email.toUpperCase());
  t.match(output, `${gateway.url}/dashboard/reset#`);
  t.equal(await signIn(), 200);
  t.match(await operator('person', 'deactivate', email), { code: 0, output: /is inactive/ });
  t.equal(await signIn(), 401);
  t.match(await operator('person', 'erase', email), { code: 2, errors: /can't be undone.+add --yes/ });
  t.match(await operator('person', 'erase', email, '--yes'), { code: 0, output: /is erased/ });
  t.notMatch((await operator('person', 'list')).output, email);
  t.match(await operator('person', 'erase', email, '--yes'), {
    code: 1,
    errors: /No person has this e-mail address/,
  });
});

t.test('without an operator token, the commands change the book itself', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-people-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const env = { TOLLGATE_DATA: dataDir, PORT: '4711' };
  const run = (...args: string[]) => tollgate(['person', ...args], env);
  const email = newEmail();
  // As a running gateway has it.
  const book = await openBook({ databaseUrl: undefined, dataDir });
  t.teardown(() => book.close());
  t.match(await run('create', '--operator', email), {
    code: 0,
    output: /^http:\/\/127\.0\.0\.1:4711\/dashboard\/setup#[\w-]{43}\n$/,
  });
  t.equal((await run('create', email)).code, 0);
  t.match(await run('create', email), { code: 1, errors: /e-mail address/ });
  t.match(await run('reset', email), { code: 0, output: /\/dashboard\/reset#/ });
  t.match(await run('deactivate', email), { code: 0 });
  t.match(await run('list'), { code: 0, output: new RegExp(`${email} +no +no`) });
  t.match(await run('erase', email, '--yes'), { code: 0 });
  t.notMatch((await run('list')).output, email);
});
