import type { GatewaySlot } from '../world/gateway-slot.ts';
import type { Link } from '../world/wire.ts';
import type { Failpoint } from './failpoints.ts';

/**
 * A fault that happens when a failpoint is next reached: the gateway is killed there, or loses all replies from there
 * on, or what it sends from there on arrives late.
 */
export interface ArmedFailpoint {
  readonly point: Failpoint;
  readonly effect: 'kill' | 'lose' | 'late';
  /** Milliseconds for which a killed gateway stays away, or by which the gateway's bytes arrive late. */
  readonly forMs: number;
}

/** Failpoints whose bytes arrive even if the gateway is killed there, because it had already written them. */
const ARRIVES: ReadonlySet<Failpoint> = new Set(['settle sent']);

/** The failpoints that are armed; each triggers once. */
export class ArmedFailpoints {
  /** Called when a failpoint has triggered at the gateway in this slot. */
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
