import t, { type Test } from 'tap';
import type {
  AccountAttentionView,
  AttentionItemView,
  OperatorAttentionView,
} from '../../src/api/attention/attention-view.ts';
import type { Config } from '../../src/config/config.ts';
import { micro } from '../../src/domain/credits.ts';
import { until } from '../helper/check/until.ts';
import { type Api, apiOf } from '../helper/clients/api.ts';
import { memberOf } from '../helper/clients/people.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import {
  ADMIN_TOKEN,
  type OwnGateway,
  startOwnGateway,
  testCatalog,
} from '../helper/start/gateway-in-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';

/** Provokes each kind by calls, on either book. */
for (const engine of ['sqlite', 'postgres'] as const) {
  t.test(`${engine}: what needs attention`, async (t) => {
    const databaseUrl = engine === 'postgres' ? await createDatabase() : undefined;
    const world = await startWorld(t, { databaseUrl });
    const operator = apiOf(world, ADMIN_TOKEN);

    await t.test('nothing to do is an empty list', async (t) => {
      const { key } = await world.account();
      t.same(await itemsOf(apiOf(world, key)), []);
      t.same(await itemsOf(operator), []);
    });

    await t.test('an account without credits, until it is topped up', async (t) => {
      const { key, accountId } = await world.account({ credits: 0.5 });
      for (const _ of [1, 2, 3]) await ended(world, key, { model: 'flat' });
      const subject = { type: 'account', id: accountId };
      const own = await soon(apiOf(world, key), 'out_of_credits', 3);
      t.match(own, { count: 3, subject, code: 'insufficient_credits', since: /Z$/, message: /3 calls/ });
      t.match(await soon(operator, 'account_out_of_credits'), { count: 3, subject });
      await operator.post(`/api/admin/accounts/${accountId}/credits/`, { amount: 50 });
      t.same(await itemsOf(apiOf(world, key)), []);
      t.notMatch(await kindsOf(operator), ['account_out_of_credits']);
    });

    await t.test('a balance that lasts less than three days', async (t) => {
      const { key, accountId } = await world.account({ credits: 3 });
      await ended(world, key, { model: 'flat' });
      const item = await soon(apiOf(world, key), 'low_balance');
      t.match(item, { subject: { type: 'account', id: accountId }, message: /2 credits, which last 2 days/ });
      t.match(
        (await itemsOf(operator)).filter(({ subject }) => subject.id === accountId),
        [{ kind: 'account_runs_dry', until: item.until?.slice(0, 10) && String }],
      );
    });

    await t.test('spent limits of a key, a member and the account', async (t) => {
      const spendingLimits = [{ period: 'total', credits: micro(1_000_000) }] as const;
      const { key, keyId, accountId } = await world.account({ spendingLimits });
      const api = apiOf(world, key);
      await api.patch(`/api/keys/${keyId}/`, { spending_limits: [{ period: 'daily', credits: 1 }] });
      await ended(world, key, { model: 'flat' });
      await soon(api, 'limit_reached');
      t.match(await itemsOf(api), [
        { kind: 'limit_reached', subject: { type: 'account', id: accountId }, until: null },
        {
          kind: 'limit_reached',
          subject: { type: 'key', id: keyId, name: 'test' },
          until: /T00:00:00.000Z$/,
        },
      ]);
    });

    await t.test('a key of which every call is refused, with the code', async (t) => {
      const { key, accountId } = await world.account();
      const api = apiOf(world, key);
      const { body: app } = await api.post<{ id: number; key: string }>('/api/keys/', {
        name: 'app',
        allowed_models: ['flat'],
      });
      for (let call = 0; call < 4; call++) await ended(world, app.key, { model: 'tokens' });
      await ended(world, app.key, { model: 'flat' });
      for (let call = 0; call < 4; call++) await ended(world, app.key, { model: 'tokens' });
      await until('the refusals', async () => (await refusalsOf(operator, accountId)) === 8);
      t.same(await itemsOf(api), [], 'four after one that was not refused are too few');
      await ended(world, app.key, { model: 'tokens' });
      const wanted = {
        kind: 'calls_refused',
        count: 5,
        code: 'model_not_allowed',
        subject: { type: 'key', id: app.id, name: 'app' },
      };
      t.match(await soon(api, 'calls_refused'), wanted);
      t.match(await itemsOf(apiOf(world, app.key)), [wanted], 'a key reads about itself');
      const { body: other } = await api.post<{ key: string }>('/api/keys/', {
        name: 'other',
        allowed_models: ['flat'],
      });
      t.same(await itemsOf(apiOf(world, other.key)), [], 'and not about another');
      const readers = { owner: 1, admin: 1, viewer: 1, billing: 0, member: 0 } as const;
      for (const [role, seen] of Object.entries(readers)) {
        const person = await memberOf(world, accountId, role as keyof typeof readers);
        t.equal((await itemsOf(person)).length, seen, role);
      }
    });

    await t.test('refused calls that a spent limit or the end of the key explains are no news', async (t) => {
      const { key, accountId } = await world.account();
      const owner = apiOf(world, key);
      const person = await memberOf(world, accountId, 'member');
      const made = async (api: Api, name: string, settings: object = {}) =>
        (await api.post<{ id: number; key: string }>('/api/keys/', { name, ...settings })).body;
      const [of, off, told] = [
        await made(person, 'of the member'),
        await made(owner, 'off', { is_active: false }),
        await made(owner, 'told', { allowed_models: ['flat'] }),
      ];
      await owner.patch(`/api/account/members/${person.id}/`, {
        spending_limits: [{ period: 'total', credits: 1 }],
      });
      await ended(world, of.key, { model: 'flat' });
      await world.settled();
      for (let call = 0; call < 5; call++) {
        for (const one of [of, off]) await ended(world, one.key, { model: 'flat' });
        await ended(world, told.key, { model: 'tokens' });
      }
      await until('the refusals', async () => (await refusalsOf(operator, accountId)) === 15);
      const subjects = async (api: Api) =>
        (await itemsOf(api)).map(({ kind, subject }) => [kind, subject.id]);
      t.same(await subjects(owner), [
        ['limit_reached', person.id],
        ['calls_refused', told.id],
      ]);
      t.same(await subjects(person), [['limit_reached', person.id]]);
    });

    await t.test('the most urgent of many is never cut off', async (t) => {
      const { key, keyId } = await world.account();
      const api = apiOf(world, key);
      const day = 86_400_000;
      for (let at = 0; at < 25; at++) {
        const expires_at = new Date(Date.now() + (1 + at / 5) * day).toISOString();
        await api.post('/api/keys/', { name: `expires ${at}`, expires_at });
      }
      await api.patch(`/api/keys/${keyId}/`, {
        spending_limits: [
          { period: 'daily', credits: 1 },
          { period: 'total', credits: 1 },
        ],
      });
      await ended(world, key, { model: 'flat' });
      await soon(api, 'limit_reached');
      const { body } = await api.get<AccountAttentionView>('/api/account/attention/');
      t.equal(body.total, 27);
      t.equal(body.items.length, 20);
      t.match(body.items.slice(0, 3), [
        { kind: 'limit_reached', until: null, message: /total/ },
        { kind: 'limit_reached', until: String, message: /daily/, more: 0 },
        { kind: 'key_expires', subject: { name: 'expires 0' } },
      ]);
      t.match(body.items.at(-1), { subject: { name: 'expires 17' }, more: 7, message: /And 7 more/ });
    });

    await t.test('a member reads about their own keys and budget', async (t) => {
      const { key, accountId } = await world.account();
      const owner = apiOf(world, key);
      const person = await memberOf(world, accountId, 'member');
      const { body: own } = await person.post<{ id: number; key: string }>('/api/keys/', { name: 'mine' });
      await owner.patch(`/api/account/members/${person.id}/`, {
        spending_limits: [{ period: '5h', credits: 1 }],
      });
      await ended(world, own.key, { model: 'flat' });
      const wanted = { kind: 'limit_reached', subject: { type: 'member', id: person.id } };
      t.match([await soon(person, 'limit_reached')], [wanted]);
      t.match(await itemsOf(owner), [wanted]);
      t.same(await itemsOf(apiOf(world, own.key)), [], 'the key reads about itself alone');
    });

    await t.test('a key that expires within a week', async (t) => {
      const { key } = await world.account();
      const api = apiOf(world, key);
      const day = 86_400_000;
      const expires_at = new Date(Date.now() + 3 * day).toISOString();
      const { body } = await api.post<{ id: number }>('/api/keys/', { name: 'soon', expires_at });
      await api.post('/api/keys/', {
        name: 'later',
        expires_at: new Date(Date.now() + 9 * day).toISOString(),
      });
      t.match(await itemsOf(api), [
        {
          kind: 'key_expires',
          subject: { type: 'key', id: body.id },
          until: expires_at,
          message: /“soon” expires in 3 days/,
        },
      ]);
    });

    await t.test('a webhook whose last delivery failed, with the reason', async (t) => {
      const { key, keyId } = await world.account();
      const api = apiOf(world, key);
      // Nothing listens on port 1.
      const webhook_url = 'http://127.0.0.1:1/hook';
      await api.patch(`/api/keys/${keyId}/`, { webhook_url });
      await api.post('/api/account/alerts/test/');
      const subject = { type: 'webhook', id: keyId, name: webhook_url };
      t.match(await soon(api, 'webhook_failed'), { code: 'refused', subject, message: /refused/ });
      t.match(await soon(operator, 'alerts_failing'), { count: 1, subject: { type: 'gateway', id: null } });
      await api.patch(`/api/keys/${keyId}/`, { webhook_url: '' });
      t.same(await itemsOf(api), []);
    });

    await t.test('providers that fail or refuse the credential', async (t) => {
      const { key } = await world.account();
      for (let call = 0; call < 5; call++) await ended(world, key, { model: 'failing' });
      t.match(await soon(operator, 'provider_failing'), {
        count: 5,
        subject: { type: 'upstream', id: 'failing' },
        message: /5 of 5 attempts at failing/,
      });
      await ended(world, key, { model: 'refusing' });
      t.match(await soon(operator, 'credential_refused', 1), {
        count: 1,
        since: /Z$/,
        subject: { type: 'upstream', id: 'refusing', name: 'refusing' },
      });
      const order = (await kindsOf(operator)).join();
      t.match(order, /^credential_refused,provider_failing,/, 'worst first');
    });

    await t.test('strangers and other roles get neither list', async (t) => {
      t.equal((await world.api('GET', '/api/account/attention/', 'sk-tg-none')).status, 401);
      const { key } = await world.account();
      t.equal((await apiOf(world, key).get('/api/admin/attention/')).status, 401);
    });
  });
}

type Item = AttentionItemView;

async function startWorld(t: Test, config: Partial<Config>): Promise<OwnGateway> {
  const provider = await startScriptedProvider();
  const failing = await startScriptedProvider({ behave: () => ({ status: 500, body: {} }) });
  const refusing = await startScriptedProvider({ behave: () => ({ status: 401, body: {} }) });
  t.teardown(() => Promise.all([provider, failing, refusing].map((one) => one.close())));
  const catalog = new Map(testCatalog(provider.url));
  const flat = catalog.get('flat');
  if (!flat) throw new Error('no such model');
  for (const [slug, { url }] of Object.entries({ failing, refusing })) {
    catalog.set(slug, {
      ...flat,
      slug,
      upstreamModel: slug,
      upstream: { ...flat.upstream, name: slug, url },
    });
  }
  return await startOwnGateway(t, { provider, config: { ...config, catalog } });
}

async function ended(world: OwnGateway, key: string, body: Record<string, unknown>): Promise<void> {
  await (await world.chat(key, body)).arrayBuffer();
}

/** The operator's list, if the caller is one. */
async function itemsOf(api: Api): Promise<readonly Item[]> {
  const own = await api.get<AccountAttentionView>('/api/account/attention/');
  if (own.status === 200) return own.body.items;
  return (await api.get<OperatorAttentionView>('/api/admin/attention/')).body.items;
}

async function kindsOf(api: Api): Promise<string[]> {
  return (await itemsOf(api)).map(({ kind }) => kind);
}

/** The first item of a kind, once it is there and counts something; records are written within two seconds. */
function soon(api: Api, kind: Item['kind'], least = 0): Promise<Item> {
  return until(kind, async () => {
    const found = (await itemsOf(api)).find((item) => item.kind === kind);
    return found !== undefined && (found.count ?? 0) >= least && found;
  });
}

async function refusalsOf(operator: Api, accountId: number): Promise<number> {
  const { body } = await operator.get<{ calls: unknown[] }>(
    `/api/admin/accounts/${accountId}/calls/?result=refused`,
  );
  return body.calls.length;
}
