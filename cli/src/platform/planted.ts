import { type PlantName, plants } from '@shop/kit/plants.ts';

/** One line per known bug that was put back: whoever reads a result must know that it is not of the real system. */
export function describePlants(names: readonly PlantName[] = []): string[] {
  return names.map((name) => `BUG PLANTED: ${name}: ${plants[name].service} ${plants[name].title}`);
}
