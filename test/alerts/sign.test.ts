import { Webhook } from 'standardwebhooks';
import { test } from 'tap';
import { alertMessage } from '../../src/alerts/alert-sender.ts';
import { newWebhookSecret, signatureHeaders } from '../../src/alerts/send.ts';
import type { ClaimedAlert } from '../../src/book/alerts.ts';
import { VERSION } from '../../src/config/version.ts';
import { micro } from '../../src/domain/credits.ts';

const secret = newWebhookSecret();
const alert: ClaimedAlert = {
  id: 7,
  accountId: 1,
  email: 'owner@example.com',
  webhookSecret: secret,
  creditsBalance: micro(99_123_456),
  test: false,
  createdAt: 0,
  deliveries: [],
};

test('a secret is whsec_ and 32 random bytes', async (t) => {
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.not(newWebhookSecret(), secret);
});

test('the signature verifies with the Standard Webhooks library', async (t) => {
  const headers = signatureHeaders(secret, 'msg_1_2', Date.now(), '{"a":1}');
  t.match(headers['webhook-signature'], /^v1,[A-Za-z0-9+/]{43}=$/);
  t.same(new Webhook(secret).verify('{"a":1}', headers), { a: 1 });
});

test('the signature does not verify for another body, id or secret', async (t) => {
  const headers = signatureHeaders(secret, 'msg_1_2', Date.now(), '{"a":1}');
  t.throws(() => new Webhook(secret).verify('{"a":2}', headers));
  t.throws(() => new Webhook(secret).verify('{"a":1}', { ...headers, 'webhook-id': 'msg_1_3' }));
  t.throws(() => new Webhook(newWebhookSecret()).verify('{"a":1}', headers));
});

test('the body holds exactly the three fields of the specification, the balance as a number of credits', async (t) => {
  const { body } = alertMessage(alert, 3, Date.now());
  t.equal(body, '{"event":"low_credits","user_email":"owner@example.com","credits_balance":99.123456}');
});

test('the headers name the content, the sender and the delivery', async (t) => {
  const { headers } = alertMessage(alert, 3, 1_700_000_000_999);
  t.match(headers, {
    'content-type': 'application/json',
    'user-agent': `Tollgate/${VERSION}`,
    'webhook-id': 'msg_7_3',
    'webhook-timestamp': '1700000000',
  });
  t.match(VERSION, /^\d+\.\d+\.\d+/);
});

test('the id of a delivery stays the same; another key has another', async (t) => {
  const first = alertMessage(alert, 3, 1_000).headers['webhook-id'];
  t.equal(alertMessage(alert, 3, 2_000).headers['webhook-id'], first);
  t.not(alertMessage(alert, 4, 1_000).headers['webhook-id'], first);
});

test('only a test alert is marked', async (t) => {
  t.equal(alertMessage({ ...alert, test: true }, 3, 0).headers['webhook-test'], 'true');
  t.notOk('webhook-test' in alertMessage(alert, 3, 0).headers);
  t.equal(alertMessage({ ...alert, test: true }, 3, 0).body, alertMessage(alert, 3, 0).body);
});
