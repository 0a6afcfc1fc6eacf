import type { Locator, Page } from 'playwright-core';
import type { Test } from 'tap';
import type { CreatedKeyView, KeyView } from '../../../src/api/keys/key-view.ts';
import type { Person } from '../../../src/domain/people.ts';
import { until } from '../check/until.ts';
import { apiOf } from '../clients/api.ts';
import { PASSWORD } from '../clients/browser.ts';
import type { InProcessGateway } from '../start/gateway-in-process.ts';
import { newContext } from './chromium.ts';

export interface View {
  readonly scheme?: 'light' | 'dark';
  /** Size of the view in CSS pixels; default 1,280 × 900. A phone is 360 wide. */
  readonly width?: number;
  readonly height?: number;
  /** IANA name of the time zone; default Europe/Berlin, which is never UTC. */
  readonly timezone?: string;
  /** Route and title of the page to open after signing in; default: the first, Home. */
  readonly at?: readonly [route: string, title: string | RegExp];
}

export interface Dashboard {
  readonly page: Page;
  /** Errors that the page threw or logged, and loads that its content security policy refused. */
  readonly faults: readonly string[];
  /** Every address that the page requested. */
  readonly requests: readonly string[];
  /** Signs in with a key or the admin token, or as a person with the password PASSWORD, and opens the first page. */
  signIn(who: string | Pick<Person, 'email'>): Promise<void>;
  /** Opens a page of the scope that is shown, `keys/new`, or any, `/me`, and waits for its title. */
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
  // The page looks for a session, and would go on by itself if it found the one that signIn starts.
  const looked = page.waitForResponse((response) => response.url().endsWith('/api/session/'));
  await page.goto(`${world.url}/dashboard/sign-in`);
  await looked;
  return {
    page,
    faults,
    requests,
    async signIn(who) {
      await startSession(
        page,
        world.url,
        typeof who === 'string' ? { key: who } : { email: who.email, password: PASSWORD },
      );
      await page.goto(`${world.url}/dashboard/`);
      if (view.at) await openBelow(page, world.url, ...view.at);
    },
    open: (route, title) => openBelow(page, world.url, route, title),
  };
}

/** Signs in as the sign-in page does, but without it: it shows another page as soon as it sees a session. */
async function startSession(page: Page, url: string, data: object): Promise<void> {
  await page.goto('about:blank');
  const headers = { 'sec-fetch-site': 'same-origin' };
  const response = await page.context().request.post(`${url}/api/session/`, { headers, data });
  if (!response.ok()) throw new Error(`the gateway refused the sign-in: ${response.status()}`);
}

/** Opens a route below the scope that is shown: `keys/new` below `/dashboard/a/1/`; one with a slash is below all. */
async function openBelow(page: Page, url: string, route: string, title: string | RegExp): Promise<void> {
  const isInScope = !route.startsWith('/');
  if (isInScope) await page.waitForURL(/\/dashboard\/(a\/\d+\/|operator\/|me\b)/);
  const [, scope = ''] = /\/dashboard\/(a\/\d+\/|operator\/)/.exec(page.url()) ?? [];
  await page.goto(`${url}/dashboard${isInScope ? `/${scope}${route}` : route}`);
  // A panel over the page hides its title from assistive technology.
  await page.getByRole('heading', { level: 1, name: title, includeHidden: true }).waitFor();
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
  if (await page.evaluate("localStorage.clear(); 'isFake' in Date")) return await context.close();
  await context.clearCookies();
  page.removeAllListeners();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.setExtraHTTPHeaders({});
  await context.clearPermissions();
  await context.setOffline(false);
  await page.goto('about:blank');
  free.set(timezoneId, [...(free.get(timezoneId) ?? []), page]);
}

/** Opens a dashboard, signs in, and waits for the page. */
export async function signedIn(
  t: Test,
  world: InProcessGateway,
  who: Parameters<Dashboard['signIn']>[0],
  view: View = {},
): Promise<Dashboard> {
  const dashboard = await openDashboard(t, world, view);
  await dashboard.signIn(who);
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
