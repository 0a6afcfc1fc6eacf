import t from 'tap';
import { openDashboard } from '../helper/dashboard/dashboard.ts';
import { inspectEveryPage } from '../helper/dashboard/dashboard-tour.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const PHONE = { width: 360, height: 740 };

await inspectEveryPage(t, PHONE);

t.test('L6: tables become cards that show all columns in full', async (t) => {
  const world = await startOwnGateway(t);
  const { key } = await world.account({ credits: 99_999.402585, email: 'demo@example.com' });
  await (await world.chat(key)).text();
  await world.settled();
  const { page, signIn, open } = await openDashboard(t, world, PHONE);
  await signIn(key);
  await page.locator('.chart-plot svg').first().waitFor();
  const value = page.locator('.figure-value').first();
  t.equal(await value.textContent(), '99,998.40');
  t.ok(Number((await value.boundingBox())?.height) < 40, 'the balance fits on one line');
  t.equal(await value.locator('data').getAttribute('title'), '99,998.402585 credits');
  for (const [place, title, region] of [
    ['keys', 'Keys', 'Keys'],
    ['billing?view=entries', 'Billing', 'Ledger entries'],
  ] as const) {
    await open(place, title);
    const frame = page.getByRole('region', { name: region });
    const cells = frame.locator('tbody th, tbody td');
    await cells.first().waitFor();
    const columns = await frame.locator('thead th').allTextContents();
    const named = await cells.evaluateAll((all) =>
      (all as unknown as { dataset: { column?: string } }[]).map(({ dataset }) => dataset.column),
    );
    // The first names the row.
    t.same(named.slice(1, columns.length), columns.slice(1), `${place}: each cell is named by its column`);
    for (const cell of await frame.locator('tbody th:visible, tbody td:visible').all()) {
      const box = await cell.boundingBox();
      t.ok(
        box && box.width > 0 && box.x >= 0 && box.x + box.width <= PHONE.width,
        `${place}: a cell is seen whole`,
      );
    }
  }
  const frame = page.getByRole('region', { name: 'Ledger entries' });
  const right = async (element: typeof frame) => {
    const box = await element.boundingBox();
    return box ? box.x + box.width : Number.NaN;
  };
  const credits = frame.getByRole('cell', { name: /^\+99,999/ });
  t.ok((await right(credits)) <= (await right(frame)), 'the credits of an entry are seen without scrolling');
  await open('keys', 'Keys');
  const link = page.getByRole('link', { name: 'test', exact: true });
  t.ok(Number((await link.boundingBox())?.height) >= 24, 'what is tapped is at least 24 pixels high');
});
