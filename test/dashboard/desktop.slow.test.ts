import t from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { openDashboard } from '../helper/dashboard/dashboard.ts';
import { inspectEveryPage } from '../helper/dashboard/dashboard-tour.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

await inspectEveryPage(t, { width: 1_440 }, ['light', 'dark']);

const world = await startOwnGateway(t);

t.test('L18: in forced colours only the current page is marked, and bars are seen', async (t) => {
  const { key } = await world.account();
  const { body } = await apiOf(world, key).post<{ key: string }>('/api/keys/', {
    name: 'Limited',
    spending_limit: 4,
  });
  await (await world.chat(body.key)).text();
  await world.settled();
  const { page, signIn, open } = await openDashboard(t, world);
  await page.emulateMedia({ forcedColors: 'active' });
  await signIn(key);
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await open('keys', 'Keys');
  await page.getByRole('link', { name: 'Limited' }).waitFor();
  const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
  const colours = (expression: string) => page.evaluate(expression).then((found) => found as string[]);
  const lines = await colours(
    "[...document.querySelectorAll('.side nav a')].map((link) => getComputedStyle(link).outlineStyle)",
  );
  t.equal(lines.filter((style) => style !== 'none').length, 1);
  const [bar, part] = await colours(
    "[...document.querySelectorAll('.bar, .bar > span')].map((one) => getComputedStyle(one).backgroundColor)",
  );
  t.equal(bar, ground);
  t.not(part, ground);
});

t.test('the dark scheme is dark', async (t) => {
  for (const [scheme, isDark] of [
    ['light', false],
    ['dark', true],
  ] as const) {
    const { page } = await openDashboard(t, world, { scheme });
    const ground = String(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
    const brightness = Math.max(...[...ground.matchAll(/\d+/g)].map(Number));
    t.equal(brightness < 64, isDark, `${scheme}: ${ground}`);
  }
});
