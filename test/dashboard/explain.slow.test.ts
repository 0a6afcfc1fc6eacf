import t from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { type openDashboard, signedIn } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const { key } = await world.account();
const { body: limited } = await apiOf(world, key).post<{ id: number }>('/api/keys/', {
  name: 'Limited',
  active_hours: '08:00-10:00',
  allowed_ips: ['203.0.113.0/24'],
});

async function form(t: Parameters<typeof openDashboard>[0], view = {}) {
  const { page } = await signedIn(t, world, key, {
    ...view,
    at: [`explain/${limited.id}`, 'Explain a call'],
  });
  await page.getByLabel('Model').fill('flat');
  // 09:00 UTC in the winter of Berlin.
  await page.getByLabel('Time').fill('2031-01-15T10:00');
  return page;
}

t.test('a call that would pass is said to pass, check by check', async (t) => {
  const page = await form(t);
  await page.getByLabel('Caller IP address').fill('203.0.113.9');
  await page.getByLabel('Endpoint').selectOption('/v1/chat/completions');
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByRole('heading', { name: 'The call would be accepted' }).waitFor();
  const checks = await page.locator('.check-name').allTextContents();
  t.equal(checks.length, 17);
  t.ok(checks.every((words) => words.endsWith('passed')));
});

t.test('the first failed check is marked, and a phone scrolls to the result', async (t) => {
  const page = await form(t, { width: 390, height: 844 });
  await page.getByLabel('Time').fill('2031-01-15T12:00');
  await page.getByLabel('Caller IP address').fill('198.51.100.1');
  await page.getByRole('button', { name: 'Explain' }).click();
  const answer = page.getByRole('heading', { name: 'The call would be refused: outside_active_hours' });
  await answer.waitFor();
  await until('the answer is seen', async () => {
    const box = await answer.boundingBox();
    return box !== null && box.y >= 0 && box.y + box.height <= 844;
  });
  const checks = await page.locator('.check-name').allTextContents();
  t.equal(checks[5], 'Active hours failed – this is the response');
  t.equal(checks[6], 'IP address failed', 'a later one that fails too');
  t.equal(checks.filter((words) => words.includes('this is the response')).length, 1);
});

t.test('a question that cannot be checked is refused at its field', async (t) => {
  const page = await form(t);
  await page.getByLabel('Caller IP address').fill('300.1.1.1');
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByText('ip must be an IPv4 or IPv6 address.').waitFor();
  t.equal(await page.getByLabel('Caller IP address').getAttribute('aria-invalid'), 'true');
});

t.test('L5: checks that depend on an unknown model are skipped and not failed', async (t) => {
  const page = await form(t);
  await page.getByLabel('Model').fill('nope');
  await page.getByLabel('Caller IP address').fill('203.0.113.9');
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByRole('heading', { name: 'The call would be refused: model_not_found' }).waitFor();
  const checks = await page.locator('.check').allTextContents();
  t.equal(checks.filter((words) => words.includes('failed')).length, 1, 'the model itself');
  t.equal(
    checks.filter((words) => /^–.* not checkedNot checked: it depends on the model/.test(words)).length,
    7,
  );
});

t.test('L5: details come from fields, and another address is not called yours', async (t) => {
  const page = await form(t);
  await page.getByLabel('Caller IP address').fill('198.51.100.1');
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByText('Checked from 198.51.100.1.').waitFor();
  // 10:00 in the winter of Berlin, where the browser is.
  await page.getByText('Checked at 15 Jan 2031, 10:00:00.').first().waitFor();
  const words = (await page.locator('.checks').textContent()) ?? '';
  t.notMatch(words, /\d{4}-\d\d-\d\dT|allowed_|blocked_|expires_at/);
  await page.getByLabel('Caller IP address').fill('');
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByText('Checked from your address 127.0.0.1.').waitFor();
});
