/** Something that happened on the platform. */
export interface PlatformEvent {
  readonly seq: number;
  /** ISO time. */
  readonly time: string;
  /** Dotted, for programs: `instance.ready`, `instance.crashed`, `up.requested`. */
  readonly type: string;
  /** Whom it concerns. */
  readonly subject: string;
  /** For people. */
  readonly message: string;
}

/** The latest events, bounded, and those who follow them. */
export interface EventLog {
  add(type: string, subject: string, message: string): PlatformEvent;
  recent(): readonly PlatformEvent[];
  /** Calls back for each event from now on; the returned function ends it. */
  follow(listener: (event: PlatformEvent) => void): () => void;
}

const KEPT_EVENTS = 2000;

export function createEventLog({ kept = KEPT_EVENTS, now = () => new Date() } = {}): EventLog {
  let events: PlatformEvent[] = [];
  let seq = 0;
  const listeners = new Set<(event: PlatformEvent) => void>();
  return {
    add(type, subject, message) {
      seq += 1;
      const event = { seq, time: now().toISOString(), type, subject, message };
      events.push(event);
      // Cut in batches: shifting one element per event would copy the whole array each time.
      if (events.length > kept * 1.5) events = events.slice(-kept);
      for (const listener of listeners) listener(event);
      return event;
    },
    recent: () => events.slice(-kept),
    follow(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
