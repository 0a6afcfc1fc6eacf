import type { GatewaySlot } from '../world/gateway-slot.ts';
import type { Link } from '../world/wire.ts';
import type { Failpoint } from './failpoints.ts';

/**
 * A fault at the next pass through a failpoint: the gateway is killed, loses all replies from then on, or everything it
 * sends from then on arrives late.
 */
export interface ArmedFailpoint {
  readonly point: Failpoint;
  readonly effect: 'kill' | 'lose' | 'late';
  /** Milliseconds that a killed gateway stays away, or that the gateway's bytes are delayed. */
  readonly forMs: number;
}

/** Failpoints whose bytes arrive even if the gateway is killed there, because it has already written them. */
const ARRIVES: ReadonlySet<Failpoint> = new Set(['settle sent']);

/** The armed failpoints; each triggers once. */
export class ArmedFailpoints {
  /** Called when a failpoint triggers at the gateway in this slot. */
  onTriggered: (failpoint: ArmedFailpoint, slot: number) => void = () => {};
  #armed: ArmedFailpoint[] = [];

  arm(failpoint: ArmedFailpoint): void {
    this.#armed.push(failpoint);
  }

  disarmAll(): void {
    this.#armed = [];
  }

  reach(point: Failpoint, slot: GatewaySlot | undefined, link: Link | undefined): 'swallow' | undefined {
    if (!slot?.isUp) return undefined;
    const failpoint = this.#take(point);
    return failpoint && this.#trigger(failpoint, slot, link);
  }

  reachAll(point: Failpoint, slots: readonly GatewaySlot[]): void {
    const failpoint = this.#take(point);
    if (failpoint) for (const slot of slots) if (slot.isUp) this.#trigger(failpoint, slot, undefined);
  }

  #take(point: Failpoint): ArmedFailpoint | undefined {
    const index = this.#armed.findIndex((failpoint) => failpoint.point === point);
    return index < 0 ? undefined : this.#armed.splice(index, 1)[0];
  }

  #trigger(failpoint: ArmedFailpoint, slot: GatewaySlot, link: Link | undefined): 'swallow' | undefined {
    this.onTriggered(failpoint, slot.index);
    if (failpoint.effect === 'lose') {
      link?.deafen();
      return undefined;
    }
    if (failpoint.effect === 'late') {
      link?.holdUp(failpoint.forMs);
      return undefined;
    }
    slot.kill(failpoint.forMs);
    return ARRIVES.has(failpoint.point) ? undefined : 'swallow';
  }
}
