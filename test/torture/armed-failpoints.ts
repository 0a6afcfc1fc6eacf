import type { Point } from './failpoints.ts';
import type { GatewaySlot } from './gateway-slot.ts';
import type { Link } from './wire.ts';

/**
 * What happens when a point is passed the next time: the gateway is killed there, or the replies from there on are lost, or
 * what it sends from there on comes late.
 */
export interface Trap {
  readonly point: Point;
  readonly effect: 'kill' | 'lose' | 'late';
  /** How long a killed gateway stays away, or how late what it sends comes. */
  readonly forMs: number;
}

/** Bytes that mark these arrive all the same: they are what a killed gateway had written. */
const ARRIVES: ReadonlySet<Point> = new Set(['settle sent']);

/** The traps that are set; each goes off once. */
export class Traps {
  /** Called when one has gone off at the gateway. */
  onSprung: (trap: Trap, slot: number) => void = () => {};
  #set: Trap[] = [];

  set(trap: Trap): void {
    this.#set.push(trap);
  }

  clear(): void {
    this.#set = [];
  }

  pass(point: Point, slot: GatewaySlot | undefined, link: Link | undefined): 'swallow' | undefined {
    if (!slot?.isUp) return undefined;
    const trap = this.#take(point);
    return trap && this.#spring(trap, slot, link);
  }

  passAll(point: Point, slots: readonly GatewaySlot[]): void {
    const trap = this.#take(point);
    if (trap) for (const slot of slots) if (slot.isUp) this.#spring(trap, slot, undefined);
  }

  #take(point: Point): Trap | undefined {
    const index = this.#set.findIndex((trap) => trap.point === point);
    return index < 0 ? undefined : this.#set.splice(index, 1)[0];
  }

  #spring(trap: Trap, slot: GatewaySlot, link: Link | undefined): 'swallow' | undefined {
    this.onSprung(trap, slot.index);
    if (trap.effect === 'lose') {
      link?.deafen();
      return undefined;
    }
    if (trap.effect === 'late') {
      link?.holdUp(trap.forMs);
      return undefined;
    }
    slot.kill(trap.forMs);
    return ARRIVES.has(trap.point) ? undefined : 'swallow';
  }
}
