import t from 'tap';
import type { CreatedKeyView, KeyView } from '../../src/api/keys/key-view.ts';
import { micro } from '../../src/domain/credits.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const ACCOUNTS = '/api/admin/accounts/';
const DEFAULTS = { rpmLimit: 600, tpmLimit: null, maxParallelRequests: 20 };
const world = await startGatewayInProcess(t, {
  config: { accounts: { maxKeys: 10, maxKeyBytes: 33_554_432, overdraft: micro(0), ...DEFAULTS } },
});
const operator = apiOf(world, ADMIN_TOKEN);

interface Limits {
  readonly rpm_limit: number | null;
  readonly tpm_limit: number | null;
  readonly max_parallel_requests: number | null;
}
interface Created {
  readonly account: Limits & { readonly id: number };
  readonly key: CreatedKeyView;
}

const limitsOf = ({ rpm_limit, tpm_limit, max_parallel_requests }: Limits) => [
  rpm_limit,
  tpm_limit,
  max_parallel_requests,
];

let emails = 0;
const create = async (more: object = {}) =>
  operator.post<Created>(ACCOUNTS, { email: `limited${emails++}@example.com`, ...more });

t.test('a new account gets the configured limits, unless the request sets others or none', async (t) => {
  t.same(limitsOf((await create()).body.account), [600, null, 20]);
  const told = await create({ rpm_limit: null, tpm_limit: 100_000_000_000 });
  t.same(limitsOf(told.body.account), [null, 100_000_000_000, 20]);
  const api = apiOf(world, told.body.key.key);
  t.same(limitsOf((await api.get<Limits>('/api/account/')).body), [null, 100_000_000_000, 20]);
});

t.test(
  "limits that an account has are no restrictions of its first key, nor the key's own limits",
  async (t) => {
    const { body } = await create();
    const { keys } = (await apiOf(world, body.key.key).get<{ keys: KeyView[] }>('/api/keys/')).body;
    t.match(keys, [{ can_manage: true, rpm_limit: null, tpm_limit: null, max_parallel_requests: null }]);
  },
);

t.test('the operator changes and lifts them one by one; operator and owner see them', async (t) => {
  const { body } = await create();
  const path = `${ACCOUNTS}${body.account.id}/`;
  const owner = apiOf(world, body.key.key);
  for (const [change, expected] of [
    [{ tpm_limit: 50_000 }, [600, 50_000, 20]],
    [{ max_parallel_requests: null, rpm_limit: 1 }, [1, 50_000, null]],
    [{ alert_threshold: 3 }, [1, 50_000, null]],
    [{ rpm_limit: null, tpm_limit: null }, [null, null, null]],
  ] as const) {
    const patched = await operator.patch<Limits>(path, change);
    t.equal(patched.status, 200);
    t.same(limitsOf(patched.body), expected);
    t.same(limitsOf((await operator.get<Limits>(path)).body), expected);
    t.same(limitsOf((await owner.get<Limits>('/api/account/')).body), expected);
  }
  const listed = await operator.get<{ accounts: (Limits & { id: number })[] }>(`${ACCOUNTS}?limit=1000`);
  const found = listed.body.accounts.find(({ id }) => id === body.account.id);
  t.same(found && limitsOf(found), [null, null, null]);
});

const BAD = [0, -1, 1.5, '5', '', true, 1e12, [], {}, Number.MAX_SAFE_INTEGER + 1];

t.test('PATCH and creation refuse a bad limit by name and change nothing', async (t) => {
  const { body } = await create();
  const path = `${ACCOUNTS}${body.account.id}/`;
  const before = (await operator.get(path)).body;
  for (const field of ['rpm_limit', 'tpm_limit', 'max_parallel_requests']) {
    for (const value of BAD) {
      const shown = `${field}: ${JSON.stringify(value)}`;
      const refused = [400, 'invalid_field', field];
      const patched = await operator.patch(path, { alert_threshold: 1, [field]: value });
      t.same(refusalOf(patched), refused, shown);
      t.match(patched.error?.message, /whole number from 1 to 100000000000, or null/);
      t.same(refusalOf(await create({ [field]: value })), refused, shown);
    }
  }
  t.same((await operator.get(path)).body, before);
});

t.test("an owner cannot change the account's limits", async (t) => {
  const { body } = await create();
  const api = apiOf(world, body.key.key);
  for (const field of ['rpm_limit', 'tpm_limit', 'max_parallel_requests']) {
    for (const value of [5, null]) {
      const answer = await api.patch('/api/account/', { [field]: value });
      t.same(refusalOf(answer), [400, 'invalid_field', field]);
    }
  }
  t.same(limitsOf((await api.get<Limits>('/api/account/')).body), [600, null, 20]);
});
