import type { Log } from '../log/log.ts';
import { type ConfigChanges, changesCatalog, configChanges } from './changes.ts';
import type { Config } from './config.ts';
import { ConfigError } from './load.ts';

/** Activates the catalog of a configuration for later calls. */
export type ReplaceCatalog = (config: Config) => Promise<void>;

/**
 * Rereads the config file and applies the settings that can change at run time: upstreams, models and prices. A file
 * with faults changes nothing. Calls in flight keep their upstream and price. The log records the changes.
 */
export class Reloader {
  readonly #load: () => Config;
  readonly #replaceCatalog: ReplaceCatalog;
  readonly #log: Log;
  readonly #onReloaded: (what: string) => Promise<void>;
  #running: Config;
  #last: Promise<void> = Promise.resolve();

  /** `running`: the startup configuration. `load` throws ConfigError. */
  constructor(parts: {
    running: Config;
    load: () => Config;
    replaceCatalog: ReplaceCatalog;
    log: Log;
    /** Called with what has changed. */
    onReloaded?: (what: string) => Promise<void>;
  }) {
    this.#running = parts.running;
    this.#load = parts.load;
    this.#replaceCatalog = parts.replaceCatalog;
    this.#log = parts.log;
    this.#onReloaded = parts.onReloaded ?? (async () => {});
  }

  /** Reloads, one at a time and in order; resolves when the new catalog is active or refused. Never rejects. */
  reload(): Promise<void> {
    this.#last = this.#last.then(() => this.#reload()).catch((error: Error) => this.#refuse(error));
    return this.#last;
  }

  async #reload(): Promise<void> {
    const next = this.#load();
    const { needRestart, ...changes } = configChanges(this.#running, next);
    await this.#replaceCatalog(next);
    for (const warning of next.warnings) {
      if (!this.#running.warnings.includes(warning)) this.#log.warn({}, warning);
    }
    // Settings that need a restart stay, so the next reload reports them again.
    this.#running = { ...this.#running, ...catalogPart(next) };
    if (needRestart.length > 0)
      this.#log.warn({ needRestart }, `these settings changed and need a restart: ${needRestart.join(', ')}`);
    const what = summary({ needRestart, ...changes });
    this.#log.info(changes, `configuration reloaded: ${what}; models live: ${next.catalog.size}`);
    await this.#onReloaded(what);
  }

  #refuse(error: Error): void {
    if (!(error instanceof ConfigError)) {
      this.#log.error({ err: error }, 'failed to reload the configuration; the current one stays active');
      return;
    }
    const { faults } = error;
    this.#log.error({ faults }, `${error.message}. The current configuration stays active`);
  }
}

function catalogPart({ pricing, upstreams, catalog, unconfigured, warnings }: Config) {
  return { pricing, upstreams, catalog, unconfigured, warnings };
}

function summary(changes: ConfigChanges): string {
  const { added, removed, changed, upstreams, priceList } = changes;
  const list = priceList === undefined ? '' : `; price list: ${priceList}`;
  if (!changesCatalog(changes)) return `no model, price or upstream changed${list}`;
  const models = `models added: ${added.length}, removed: ${removed.length}, changed: ${Object.keys(changed).length}`;
  const names = Object.keys(upstreams);
  return `${models}${names.length > 0 ? `; upstreams changed: ${names.join(', ')}` : ''}${list}`;
}
