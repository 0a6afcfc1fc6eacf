import type { Model, Upstream } from '../../domain/catalog.ts';
import type { Log } from '../../log/log.ts';

/**
 * Decides which upstreams are asked to report the usage of a stream: all but those that are configured not to be, and
 * those that were found to refuse `stream_options`. These are known by address, so that a reload of the configuration
 * changes nothing, for as long as the process runs.
 */
export class StreamUsage {
  readonly #log: Log;
  readonly #refusing = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  asks({ streamUsage, url }: Pick<Upstream, 'streamUsage' | 'url'>): boolean {
    return streamUsage !== 'leave' && !this.#refusing.has(url);
  }

  /** Whether any target of the model is asked. */
  asksAny({ upstream, targets }: Pick<Model, 'upstream' | 'targets'>): boolean {
    return targets ? targets.some(({ model }) => this.asks(model.upstream)) : this.asks(upstream);
  }

  /** A call that the upstream refused with `stream_options` succeeded without. */
  refused({ name, url }: Pick<Upstream, 'name' | 'url'>): void {
    if (this.#refusing.has(url)) return;
    this.#refusing.add(url);
    this.#log.warn(
      { upstream: name },
      'upstream refuses stream_options; no longer asking it for the usage of streams, which is estimated unless reported',
    );
  }
}
