import { type Config, DEMO_URL } from '../config.ts';
import type { Model, Upstream } from '../domain/catalog.ts';
import { startDemoProvider } from './demo-provider.ts';

/**
 * Starts the demo provider on loopback where the configuration has an upstream for it, and gives the configuration with
 * the provider's address in that upstream. Close the provider after the gateway.
 */
export async function startDemoUpstreams(
  config: Config,
): Promise<{ readonly config: Config; close(): Promise<void> }> {
  const isDemo = (upstream: Upstream) => upstream.url === DEMO_URL;
  if (![...config.upstreams.values()].some(isDemo)) return { config, close: async () => {} };
  const provider = await startDemoProvider();
  const upstreams = new Map<string, Upstream>();
  for (const [name, upstream] of config.upstreams) {
    upstreams.set(name, isDemo(upstream) ? Object.freeze({ ...upstream, url: provider.url }) : upstream);
  }
  const catalog = new Map<string, Model>();
  for (const [slug, model] of config.catalog) {
    catalog.set(
      slug,
      Object.freeze({ ...model, upstream: upstreams.get(model.upstream.name) ?? model.upstream }),
    );
  }
  return { config: Object.freeze({ ...config, upstreams, catalog }), close: () => provider.close() };
}
