import t from 'tap';
import { newContext } from '../helper/dashboard/chromium.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);

/** The page in its own browser context, its requests, and its errors. */
async function openPage() {
  const context = await newContext({ viewport: { width: 1_280, height: 800 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const requests: string[] = [];
  const faults: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  await page.goto(`${world.url}/docs`);
  await page.locator('.opblock').first().waitFor();
  return { page, requests, faults };
}

/** Two tests share the page, because loading it takes three seconds of processor time. */
const opened = openPage();

t.test(
  'the page shows every operation, loads nothing from elsewhere, and breaks no rule of its policy',
  async (t) => {
    const { page, requests, faults } = await opened;
    const { paths } = (await (await fetch(`${world.url}/openapi.json`)).json()) as {
      paths: Record<string, object>;
    };
    const described = Object.values(paths).flatMap((methods) => Object.keys(methods)).length;
    // Plus one for the webhook.
    t.equal(await page.locator('.opblock').count(), described + 1);
    t.equal(await page.title(), 'Tollgate API');
    t.same(
      requests.filter((url) => !url.startsWith(`${world.url}/docs`)),
      [],
    );
    t.same(faults, []);
  },
);

t.test('an operation can be tried with a key', async (t) => {
  const { key } = await world.account({ email: 'try-it@example.com' });
  const { page, faults } = await opened;
  await page.locator('.auth-wrapper .authorize').click();
  await page.locator('#auth-bearer-value').first().fill(key);
  await page.locator('.auth-btn-wrapper button[type=submit]').first().click();
  await page.locator('.auth-btn-wrapper .btn-done').first().click();
  const operation = page.locator('#operations-Account-readAccount');
  await operation.locator('.opblock-summary-control').click();
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = operation.locator('.live-responses-table');
  await answer.getByText('try-it@example.com').first().waitFor();
  t.match(await answer.innerText(), /200/);
  t.same(faults, []);
});

t.test('the page loads only from its own origin, with a policy and without inline scripts', async (t) => {
  const bare = await fetch(`${world.url}/docs`, { redirect: 'manual' });
  t.equal(bare.headers.get('location'), 'docs/', 'relative: a proxy may serve it below a path');
  for (const path of ['/docs', '/docs/']) {
    const page = await fetch(`${world.url}${path}`);
    t.equal(page.status, 200, path);
    t.match(page.headers.get('content-type'), 'text/html');
    t.match(page.headers.get('content-security-policy'), "default-src 'self'");
    const html = await page.text();
    t.notMatch(html, /(?:src|href)="https?:/);
    t.notMatch(html, /<script(?![^>]*\ssrc=)/, 'no inline script, which the policy would stop');
    for (const [, link = ''] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const asset = await fetch(new URL(link, page.url));
      t.equal(asset.status, 200, link);
      await asset.arrayBuffer();
    }
  }
});
