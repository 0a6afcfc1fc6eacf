import { Cluster } from 'ioredis';

const CLOSED = 'Connection is closed.';
const MOVED = /^MOVED (\d+) /;

/** The ways in which ioredis can handle a command that failed; only those that we choose ourselves are named here. */
interface Handlers {
  readonly defaults: () => void;
}

/**
 * ioredis' Cluster with two of its decisions changed.
 *
 * A command whose connection ended is rejected and not sent again: it may have been executed, and only the caller knows
 * how to find out. A command that a node refuses with MOVED has not been executed; it follows its slot only when
 * `beforeMove` lets it, because a replica that has just taken over may lack writes that its master had acknowledged.
 */
export class RedisCluster extends Cluster {
  /** Delays a command until the promise resolves; undefined: not at all. Where it rejects, the command fails with MOVED. */
  beforeMove: (slot: number) => Promise<void> | undefined = () => undefined;

  override handleError(error: Error, ttl: { value?: number }, handlers: Handlers): void {
    if (error.message === CLOSED) {
      this.refreshSlotsCache();
      handlers.defaults();
      return;
    }
    const slot = MOVED.exec(error.message)?.[1];
    const moved = slot === undefined ? undefined : this.beforeMove(Number(slot));
    if (!moved) {
      super.handleError(error, ttl, handlers);
      return;
    }
    this.refreshSlotsCache();
    moved.then(
      () => super.handleError(error, ttl, handlers),
      () => handlers.defaults(),
    );
  }
}
