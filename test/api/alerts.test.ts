import t from 'tap';
import type { AlertListView } from '../../src/api/alerts/alert-view.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { startReceiver } from '../helper/stand-ins/receiver.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);

interface Alert {
  readonly id: number;
  readonly created_at: string;
  readonly credits_balance: number;
  readonly test: boolean;
  readonly deliveries: readonly {
    readonly key_id: number;
    readonly url: string;
    readonly status: string;
    readonly http_status: number | null;
    readonly duration_ms: number | null;
    readonly attempted_at: string;
  }[];
}

/** The newest alert, once it is there and the outcome of every delivery is known. */
async function outcome(key: string): Promise<Alert> {
  for (;;) {
    const { body } = await apiOf(world, key).get<{ alerts: Alert[] }>('/api/account/alerts/');
    const [alert] = body.alerts;
    if (
      alert &&
      alert.deliveries.length > 0 &&
      alert.deliveries.every(({ status }) => status !== 'unknown')
    ) {
      return alert;
    }
  }
}

t.test('an account without alerts has an empty list', async (t) => {
  const { key } = await world.account();
  const { status, body } = await apiOf(world, key).get('/api/account/alerts/');
  t.same([status, body], [200, { receivers: [], alerts: [] }]);
});

t.test('the keys that have webhooks are named before anything was sent', async (t) => {
  const { key, keyId, accountId } = await world.account({
    key: { name: 'ops', webhookUrl: 'https://hooks.example/a' },
  });
  const api = apiOf(world, key);
  const webhook = { webhook_url: 'https://hooks.example/b' };
  const { body: second } = await api.post<{ id: number }>('/api/keys/', { name: 'second', ...webhook });
  await api.post('/api/keys/', { name: 'off', is_active: false, ...webhook });
  await api.post('/api/keys/', { name: 'old', expires_at: '2026-01-01T00:00:00Z', ...webhook });
  const { body } = await api.get<AlertListView>('/api/account/alerts/');
  t.same(body.receivers, [
    { key_id: keyId, key_name: 'ops', url: 'https://hooks.example/a', last: null },
    { key_id: second.id, key_name: 'second', url: 'https://hooks.example/b', last: null },
  ]);
  const operator = apiOf(world, ADMIN_TOKEN);
  t.same((await operator.get(`/api/admin/accounts/${accountId}/alerts/`)).body, body);
});

t.test('a receiver shows the latest delivery to its address, whichever key had it', async (t) => {
  const receiver = await startReceiver();
  t.teardown(() => receiver.close());
  const { key, keyId } = await world.account({ key: { webhookUrl: receiver.url } });
  const api = apiOf(world, key);
  const { body: other } = await api.post<{ id: number }>('/api/keys/', {
    name: 'same address',
    webhook_url: receiver.url,
  });
  await api.post('/api/account/alerts/test/');
  await receiver.next();
  const { deliveries } = await outcome(key);
  const { body } = await api.get<AlertListView>('/api/account/alerts/?limit=1');
  t.match(
    body.receivers.map(({ key_id, last }) => [key_id, last]),
    [
      [keyId, deliveries[0]],
      [other.id, deliveries[0]],
    ],
  );
});

t.test('the alert of a call is listed as soon as the call is answered', async (t) => {
  const receiver = await startReceiver();
  t.teardown(() => receiver.close());
  const { key } = await world.account({ credits: 10, threshold: 10, key: { webhookUrl: receiver.url } });
  await (await world.chat(key)).text();
  t.match((await apiOf(world, key).get('/api/account/alerts/')).body, { alerts: [{ credits_balance: 9 }] });
});

t.test(
  'a test alert is sent to the webhooks of the account, marked, and its outcome is listed',
  async (t) => {
    const receiver = await startReceiver();
    t.teardown(() => receiver.close());
    const owner = await world.account({
      credits: 42.5,
      key: { webhookUrl: receiver.url },
      email: 'alerts@example.com',
    });
    const sent = await apiOf(world, owner.key).post<{ id: number }>('/api/account/alerts/test/');
    t.equal(sent.status, 200);
    const request = await receiver.next();
    t.same(JSON.parse(request.body), {
      event: 'low_credits',
      user_email: 'alerts@example.com',
      credits_balance: 42.5,
    });
    const alert = await outcome(owner.key);
    t.match(alert, { id: sent.body.id, credits_balance: 42.5, test: true });
    t.match(alert.created_at, /Z$/);
    const [delivery] = alert.deliveries;
    t.type(delivery?.duration_ms, 'number');
    t.match(delivery?.attempted_at, /Z$/);
    t.same(alert.deliveries, [
      {
        key_id: owner.keyId,
        url: receiver.url,
        status: 'delivered',
        http_status: 200,
        error: null,
        duration_ms: delivery?.duration_ms,
        attempted_at: delivery?.attempted_at,
      },
    ]);
  },
);

t.test(
  'a crossing is listed with the balance that the debit left, and a failed delivery with its status',
  async (t) => {
    const receiver = await startReceiver({ respond: (_request, response) => response.writeHead(500).end() });
    t.teardown(() => receiver.close());
    const owner = await world.account({ credits: 10, threshold: 10, key: { webhookUrl: receiver.url } });
    await (await world.chat(owner.key)).text();
    const alert = await outcome(owner.key);
    t.match(alert, { credits_balance: 9, test: false, deliveries: [{ status: 'failed', http_status: 500 }] });
  },
);

t.test('alerts are listed newest first, up to limit, and none of another account', async (t) => {
  const owner = await world.account();
  const stranger = await world.account();
  const api = apiOf(world, owner.key);
  const first = await api.post<{ id: number }>('/api/account/alerts/test/');
  await apiOf(world, stranger.key).post('/api/account/alerts/test/');
  const second = await api.post<{ id: number }>('/api/account/alerts/test/');
  const { body } = await api.get<{ alerts: Alert[] }>('/api/account/alerts/');
  t.same(
    body.alerts.map(({ id }) => id),
    [second.body.id, first.body.id],
  );
  const one = await api.get<{ alerts: Alert[] }>('/api/account/alerts?limit=1');
  t.equal(one.body.alerts.length, 1);
  t.same(refusalOf(await api.get('/api/account/alerts/?limit=0')), [400, 'invalid_field', 'limit']);
});

t.test('a sixth test alert within a minute gets 429 with the time until the next', async (t) => {
  const { key } = await world.account();
  const api = apiOf(world, key);
  const answers = [];
  for (let sent = 0; sent < 6; sent++) answers.push(await api.post('/api/account/alerts/test/'));
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200, 429],
  );
  const refused = answers[5];
  t.same([refused?.error?.code, refused?.error?.type], ['rate_limit_exceeded', 'rate_limit_error']);
  t.match(refused?.headers.get('retry-after'), /^([1-9]|[1-5]\d|60)$/);
});
