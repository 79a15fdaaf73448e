import { type Context, context, createContextKey } from '@opentelemetry/api';
import { type Track, trackNamed } from './release.ts';

/** Names the track that is to serve a request and all calls that belong to it, whatever its weight is: for testers. */
export const TRACK_HEADER = 'x-shop-track';

const WANTED = createContextKey('shop wanted track');

/** The context of a request with this header. Without it, or where there is no such track, the weights decide. */
export function withWantedTrack(parent: Context, header: string | readonly string[] | undefined): Context {
  const track = typeof header === 'string' ? trackNamed(header) : undefined;
  return track === undefined ? parent : parent.setValue(WANTED, track);
}

/** The track that the current request names. */
export function wantedTrack(): Track | undefined {
  return context.active().getValue(WANTED) as Track | undefined;
}
