import t from 'tap';
import { openDashboard } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

t.test('the dark scheme is dark', async (t) => {
  const world = await startOwnGateway(t);
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
