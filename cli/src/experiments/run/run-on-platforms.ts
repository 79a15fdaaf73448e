import { messageOf } from '../../errors.ts';

/** A platform on which things are measured, one after the other. */
export interface MeasuringPlace<Item, Measured> {
  measure(item: Item): Promise<Measured>;
  /** Takes it down with its data. */
  close(): Promise<void>;
}

/** What a run on several platforms is given. */
export interface PlatformsPorts<Item, Measured> {
  /** How many platforms work side by side. */
  readonly platforms: number;
  /** Starts the platform of a number. Rejects when it does not start. */
  open(number: number): Promise<MeasuringPlace<Item, Measured>>;
  /** Whether the next one may be measured on the same platform. */
  mayGoOn(record: Measured): boolean;
  nameOf(item: Item): string;
  onRecord(record: Measured): Promise<void>;
  onTrouble(number: number, problem: string): void;
  readonly signal: AbortSignal;
}

/** So many platforms that fail one after the other are no accident: the rest would fail like them. */
const FAILURES = 3;

/**
 * Measures items on several platforms concurrently, each on one at a time, in their order. Invariants: M1: each item is measured once
 * at most; one that could not be has no record. M2: a platform that an item has left changed is replaced. M3: every platform that was
 * opened is closed. Rejects with the first error when all platforms have ended.
 */
export async function runOnPlatforms<Item, Measured>(
  items: readonly Item[],
  ports: PlatformsPorts<Item, Measured>,
): Promise<void> {
  const waiting = [...items];
  const shared: Shared<Item> = {
    next: () => waiting.shift(),
    giveBack: (item) => void waiting.push(item),
    failures: 0,
    isOver: false,
  };
  const count = Math.min(ports.platforms, items.length);
  const ends = await Promise.allSettled(Array.from({ length: count }, (_, index) => work(index + 1, shared, ports)));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

interface Shared<Item> {
  next(): Item | undefined;
  giveBack(item: Item): void;
  failures: number;
  isOver: boolean;
}

/** Works until nothing waits, or until another one has failed for good. */
async function work<Item, Measured>(
  number: number,
  shared: Shared<Item>,
  ports: PlatformsPorts<Item, Measured>,
): Promise<void> {
  let place: MeasuringPlace<Item, Measured> | undefined;
  try {
    for (let item = shared.next(); item !== undefined && !shared.isOver; item = shared.next()) {
      try {
        place ??= await ports.open(number);
        const record = await place.measure(item);
        shared.failures = 0;
        await ports.onRecord(record);
        if (ports.mayGoOn(record)) continue;
      } catch (error) {
        // A platform that did not start is not the item's doing: another one may have it.
        if (place === undefined) shared.giveBack(item);
        if (ports.signal.aborted || ++shared.failures >= FAILURES) throw error;
        ports.onTrouble(number, `${ports.nameOf(item)} was not measured: ${messageOf(error)}`);
      }
      await place?.close();
      place = undefined;
    }
  } catch (error) {
    shared.isOver = true;
    throw error;
  } finally {
    await place?.close();
  }
}
