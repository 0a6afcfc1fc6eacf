import { Cluster } from 'ioredis';

const CLOSED = 'Connection is closed.';
const MOVED = /^MOVED (\d+) /;

/** What ioredis does with a command that a node refused; only those named here are chosen by us. */
interface Handlers {
  readonly defaults: () => void;
}

/**
 * ioredis' Cluster with two of its decisions changed.
 *
 * A command whose connection ended is rejected and not sent again: it may have been executed, and only the caller knows
 * how to ask. A command that a node refuses with MOVED, which is to say unexecuted, follows its slot only when
 * `beforeMove` lets it: a replica that has just taken over may lack what its master had acknowledged.
 */
export class RedisCluster extends Cluster {
  /** Undefined: at once. A promise that rejects rejects the command with MOVED. */
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
