import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { buildPage } from '../../src/dashboard/build-page.ts';
import { startChromium } from './chromium.ts';
import type { InProcessGateway } from './gateway-in-process.ts';

export interface View {
  readonly scheme?: 'light' | 'dark';
  /** CSS pixels; default 1,280 × 900. A phone is 360 wide. */
  readonly width?: number;
  readonly height?: number;
  /** IANA name; default Europe/Berlin, which is never UTC. */
  readonly timezone?: string;
}

export interface Dashboard {
  readonly page: Page;
  /** What went wrong in the page itself: errors that were thrown or logged, and what its policy kept it from. */
  readonly faults: readonly string[];
  /** Every address that the page asked for. */
  readonly requests: readonly string[];
  /** Types the key and signs in. */
  signIn(token: string): Promise<void>;
  /** Opens a route of the page, `keys/new`, and waits for its title. */
  open(route: string, title: string | RegExp): Promise<void>;
}

let built: Promise<void> | undefined;

/** The dashboard of a gateway in a browser of its own: nothing is shared with another. */
export async function openDashboard(
  t: Test,
  world: Pick<InProcessGateway, 'url'>,
  view: View = {},
): Promise<Dashboard> {
  built ??= buildPage();
  await built;
  const context = await (await startChromium()).newContext({
    colorScheme: view.scheme ?? 'light',
    viewport: { width: view.width ?? 1_280, height: view.height ?? 900 },
    timezoneId: view.timezone ?? 'Europe/Berlin',
    locale: 'en-GB',
    reducedMotion: 'reduce',
  });
  t.teardown(() => context.close());
  const page = await context.newPage();
  const faults: string[] = [];
  const requests: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => {
    // A refusal is answered to the page, and Chromium tells it as an error of its own.
    const isRefusal = message.text().startsWith('Failed to load resource: the server responded');
    if (message.type() === 'error' && !isRefusal) faults.push(message.text());
  });
  await page.goto(`${world.url}/dashboard/`);
  return {
    page,
    faults,
    requests,
    async signIn(token) {
      await page.getByLabel('API key').fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
    },
    async open(route, title) {
      await page.goto(`${world.url}/dashboard/#/${route}`);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
    },
  };
}
