import type { Test } from 'tap';
import type { CreatedKeyView, KeyView } from '../../src/api/views/key-view.ts';
import { apiOf } from './api.ts';
import { type Dashboard, openDashboard, type View } from './dashboard.ts';
import type { InProcessGateway } from './gateway-in-process.ts';

/** Opens a dashboard and signs in with the key. */
export async function signedIn(
  t: Test,
  world: InProcessGateway,
  key: string,
  view: View = {},
): Promise<Dashboard> {
  const dashboard = await openDashboard(t, world, view);
  await dashboard.signIn(key);
  await dashboard.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  return dashboard;
}

/** Every key of the account, as the API lists them. */
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
