import t from 'tap';
import { openDashboard } from '../helper/dashboard.ts';
import { inspectEveryPage } from '../helper/dashboard-tour.ts';
import { startWorld } from '../helper/world.ts';

const PHONE = { width: 360, height: 740 };

await inspectEveryPage(t, PHONE);

t.test('the credits of a ledger entry are seen whole without scrolling', async (t) => {
  const world = await startWorld(t);
  const { key } = await world.account({ credits: 1_000 });
  await (await world.chat(key)).text();
  await world.settled();
  const { page, signIn, open } = await openDashboard(t, world, PHONE);
  await signIn(key);
  await open('ledger', 'Ledger');
  const frame = page.getByRole('region', { name: 'Ledger entries' });
  const right = async (element: typeof frame) => {
    const box = await element.boundingBox();
    return box ? box.x + box.width : Number.NaN;
  };
  const credits = frame.getByRole('cell', { name: '+1,000.000000' });
  t.ok((await right(credits)) <= (await right(frame)), 'the column ends before the frame does');
});
