import type { Locator, Page } from 'playwright-core';
import type { Test } from 'tap';
import type { CreatedKeyView, KeyView } from '../../../src/api/keys/key-view.ts';
import { until } from '../check/until.ts';
import { apiOf } from '../clients/api.ts';
import type { InProcessGateway } from '../start/gateway-in-process.ts';
import { newContext } from './chromium.ts';

export interface View {
  readonly scheme?: 'light' | 'dark';
  /** Size of the view in CSS pixels; default 1,280 × 900. A phone is 360 wide. */
  readonly width?: number;
  readonly height?: number;
  /** IANA name of the time zone; default Europe/Berlin, which is never UTC. */
  readonly timezone?: string;
  /**
   * Route and title of the page on which to sign in; default Home. Home and its chart take two thirds of the time of
   * signing in.
   */
  readonly at?: readonly [route: string, title: string | RegExp];
}

export interface Dashboard {
  readonly page: Page;
  /** Errors that the page threw or logged, and loads that its content security policy refused. */
  readonly faults: readonly string[];
  /** Every address that the page requested. */
  readonly requests: readonly string[];
  /** Types the key and signs in. */
  signIn(token: string): Promise<void>;
  /** Opens a route of the page, `keys/new`, and waits for its title. */
  open(route: string, title: string | RegExp): Promise<void>;
}

/**
 * Opens the dashboard of a gateway in a browser context that no other dashboard uses, without any state of earlier
 * ones.
 */
export async function openDashboard(
  t: Test,
  world: Pick<InProcessGateway, 'url'>,
  view: View = {},
): Promise<Dashboard> {
  const { timezone = 'Europe/Berlin' } = view;
  const page = await freePage(timezone);
  t.teardown(async () => {
    if (t.passing()) return leave(page, timezone);
    console.error(`The page of the failed test, ${page.url()}:\n${await page.locator('body').innerText()}`);
    return page.context().close();
  });
  await page.emulateMedia({
    colorScheme: view.scheme ?? 'light',
    reducedMotion: 'reduce',
    forcedColors: null,
  });
  await page.setViewportSize({ width: view.width ?? 1_280, height: view.height ?? 900 });
  const faults: string[] = [];
  const requests: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => {
    // Chromium logs every refusal as an error, though the page handles it.
    const isRefusal = message.text().startsWith('Failed to load resource: the server responded');
    if (message.type() === 'error' && !isRefusal) faults.push(message.text());
  });
  await page.goto(`${world.url}/dashboard/${view.at ? `#/${view.at[0]}` : ''}`);
  return {
    page,
    faults,
    requests,
    async signIn(token) {
      const field = page.getByLabel('API key');
      // The sign-in is for people first.
      const other = page.getByRole('button', { name: 'Use an API key or the admin token' });
      await field.or(other).waitFor();
      if (await other.isVisible()) await other.click();
      await field.fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
    },
    async open(route, title) {
      await page.goto(`${world.url}/dashboard/#/${route}`);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
    },
  };
}

/**
 * Unused pages by time zone, each alone in its context. Opening a dashboard takes half a second of processor time in
 * one of these, and a second in a new window.
 */
const free = new Map<string, Page[]>();

async function freePage(timezoneId: string): Promise<Page> {
  const left = free.get(timezoneId)?.pop();
  if (left) return left;
  const context = await newContext({ timezoneId, locale: 'en-GB' });
  return await context.newPage();
}

/** Resets the page and its context for the next dashboard. */
async function leave(page: Page, timezoneId: string): Promise<void> {
  const context = page.context();
  // A context can't reset a clock that a test has set.
  if (await page.evaluate("sessionStorage.clear(); 'isFake' in Date")) return await context.close();
  page.removeAllListeners();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.setExtraHTTPHeaders({});
  await context.clearPermissions();
  await context.setOffline(false);
  await page.goto('about:blank');
  free.set(timezoneId, [...(free.get(timezoneId) ?? []), page]);
}

/** Opens a dashboard, signs in with the key, and waits for the page. */
export async function signedIn(
  t: Test,
  world: InProcessGateway,
  key: string,
  view: View = {},
): Promise<Dashboard> {
  const dashboard = await openDashboard(t, world, view);
  await dashboard.signIn(key);
  const [, name] = view.at ?? ['home', 'Home'];
  await dashboard.page.getByRole('heading', { level: 1, name }).waitFor();
  return dashboard;
}

/**
 * Waits until the text of the element, or of all elements, matches, and asserts it. Parts of a page load separately.
 */
export async function reads(t: Test, at: Locator, pattern: RegExp, message = 'the text'): Promise<void> {
  let text = '';
  const hasCome = async () => {
    text = (await at.allTextContents()).join('\n');
    return pattern.test(text);
  };
  await until('the text', hasCome, 120_000).catch(() => undefined);
  t.match(text, pattern, message);
}

/** Lists all keys of the account. */
export async function keysOf(world: InProcessGateway, key: string): Promise<readonly KeyView[]> {
  return (await apiOf(world, key).get<{ keys: KeyView[] }>('/api/keys/')).body.keys;
}

/** Creates a key of the account by the API. */
export async function makeKey(
  world: InProcessGateway,
  key: string,
  settings: Record<string, unknown>,
): Promise<CreatedKeyView> {
  const { body, error } = await apiOf(world, key).post<CreatedKeyView>('/api/keys/', settings);
  if (error) throw new Error(`no key was made: ${error.message}`);
  return body;
}
