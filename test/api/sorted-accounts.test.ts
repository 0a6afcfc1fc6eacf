import t from 'tap';
import type { AccountPageView, ListedAccountView } from '../../src/api/account/account-view.ts';
import { until } from '../helper/check/until.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';

for (const engine of ['sqlite', 'postgres'] as const) {
  t.test(`${engine}: the list of accounts has their sums, in any order`, async (t) => {
    const databaseUrl = engine === 'postgres' ? await createDatabase() : undefined;
    const world = await startOwnGateway(t, { config: { databaseUrl } });
    const operator = apiOf(world, ADMIN_TOKEN);
    const list = async (query = '') =>
      (await operator.get<AccountPageView>(`/api/admin/accounts/${query}`)).body;
    const accounts: number[] = [];
    for (const [at, calls] of [2, 0, 3, 0, 1].entries()) {
      const account = await world.account({ credits: at === 1 ? 0 : 10, email: `at${at}@${at % 2}.example` });
      for (let call = 0; call < calls; call++) await (await world.chat(account.key)).arrayBuffer();
      accounts.push(account.accountId);
    }
    const dry = await operator.post<{ key: { key: string } }>('/api/admin/accounts/', {
      email: 'dry@1.example',
    });
    await (await world.chat(dry.body.key.key)).arrayBuffer();
    await world.settled();
    const spent = (ids: readonly number[], all: readonly ListedAccountView[]) =>
      ids.map((id) => all.find((account) => account.id === id)?.spent_30d);

    await t.test('sums', async (t) => {
      const all = await until('the refusal', async () => {
        const page = await list();
        return page.accounts.at(-1)?.refused_24h === 1 && page.accounts;
      });
      t.same(spent(accounts, all), ['2.000000', '0.000000', '3.000000', '0.000000', '1.000000']);
      t.match(all[0], { credits_balance: 8, lasts_days: 4, refused_24h: 0, last_used_at: /Z$/ });
      t.match(all[1], { lasts_days: null, last_used_at: null });
      t.match(all.at(-1), { credits_balance: 0, lasts_days: null, refused_24h: 1, last_used_at: /Z$/ });
    });

    await t.test('a top-up ends the want of credits, not the count of refused calls', async (t) => {
      const { id, out_of_credits } = (await list()).accounts.at(-1) as ListedAccountView;
      t.equal(out_of_credits, true);
      await operator.post(`/api/admin/accounts/${id}/credits/`, { amount: 7 });
      await world.settled();
      t.match((await list()).accounts.at(-1), { refused_24h: 1, out_of_credits: false });
    });

    await t.test('each order, whole and page by page', async (t) => {
      const value = {
        id: ({ id }: ListedAccountView) => id,
        balance: ({ credits_balance }: ListedAccountView) => credits_balance,
        spend: ({ spent_30d }: ListedAccountView) => Number(spent_30d),
        lasts: ({ lasts_days }: ListedAccountView) => lasts_days,
        refused: ({ refused_24h }: ListedAccountView) => refused_24h,
        last_used: ({ last_used_at }: ListedAccountView) => last_used_at && Date.parse(last_used_at),
      };
      for (const [sort, of] of Object.entries(value)) {
        for (const sign of ['', '-']) {
          const { accounts } = await list(`?sort=${sign}${sort}`);
          const values = accounts.map(of);
          const known = values.filter((one) => typeof one === 'number');
          const sorted = known.toSorted((one, other) => (sign === '' ? one - other : other - one));
          t.same(values, [...sorted, ...values.filter((one) => one === null)], `${sign}${sort}`);
          const paged = [];
          let next: string | null = '';
          while (next !== null) {
            const after = next === '' ? '' : `&after=${encodeURIComponent(next)}`;
            const page: AccountPageView = await list(`?sort=${sign}${sort}&limit=2${after}`);
            paged.push(...page.accounts.map(({ id }) => id));
            next = page.next;
          }
          t.same(
            paged,
            accounts.map(({ id }) => id),
            `pages by ${sign}${sort}`,
          );
        }
      }
    });

    await t.test('with a part of the email address; other values are refused', async (t) => {
      const { accounts: some } = await list('?sort=-spend&email=0.EXAMPLE');
      t.same(
        some.map(({ spent_30d }) => spent_30d),
        ['3.000000', '2.000000', '1.000000'],
      );
      t.same(refusalOf(await operator.get('/api/admin/accounts/?sort=name')), [400, 'invalid_field', 'sort']);
      for (const after of ['x', '1:0', 'none:', '1e3:2'])
        t.same(
          refusalOf(await operator.get(`/api/admin/accounts/?sort=spend&after=${after}`)),
          [400, 'invalid_field', 'after'],
          after,
        );
    });
  });
}
