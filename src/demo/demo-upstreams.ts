import { type Config, DEMO_URL } from '../config/config.ts';
import type { Model, Upstream } from '../domain/catalog.ts';
import { startDemoProvider } from './demo-provider.ts';
import type { Listening } from './listen.ts';

/**
 * The demo provider as an upstream on loopback. It starts with the first configuration that has an upstream for it, and
 * must be closed after the gateway, whose last calls may need it.
 */
export class DemoUpstreams {
  #provider: Promise<Listening> | undefined;

  /**
   * The configuration with the provider's address in each upstream whose URL is `DEMO_URL`; the provider is started if
   * need be. A configuration without such an upstream comes back unchanged.
   */
  async bind(config: Config): Promise<Config> {
    const isDemo = (upstream: Upstream) => upstream.url === DEMO_URL;
    if (![...config.upstreams.values()].some(isDemo)) return config;
    this.#provider ??= startDemoProvider();
    const { url } = await this.#provider;
    const upstreams = new Map<string, Upstream>();
    for (const [name, upstream] of config.upstreams) {
      upstreams.set(name, isDemo(upstream) ? Object.freeze({ ...upstream, url }) : upstream);
    }
    const catalog = new Map<string, Model>();
    for (const [slug, model] of config.catalog) {
      const upstream = upstreams.get(model.upstream.name) ?? model.upstream;
      catalog.set(slug, Object.freeze({ ...model, upstream }));
    }
    return Object.freeze({ ...config, upstreams, catalog });
  }

  async close(): Promise<void> {
    await (await this.#provider)?.close();
  }
}
