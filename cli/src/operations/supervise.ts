import { createChangeLog } from '../platform/change-log.ts';
import { readJson, sendJson } from '../platform/control-api.ts';
import type { ExtensionContext, SupervisorExtension } from '../platform/supervisor-extension.ts';
import { createOperations } from './operations.ts';

/** Type of the event after a change by an operator. */
export const OPERATION_DONE = 'operation.done';

/** The route of a supervisor for operators: `POST /v1/operations/NAME` with a JSON body; responds with JSON. */
export function openOperations({ events, ...platform }: ExtensionContext): SupervisorExtension {
  const operations = createOperations({
    ...platform,
    changes: createChangeLog(platform.project, (problem) => console.error(`supervisor: ${problem}`)),
    onChanged: (target, message) => void events.add(OPERATION_DONE, target, message),
  });
  return {
    async handle(route, request, response) {
      const name = /^POST \/v1\/operations\/([a-z-]+)$/.exec(route)?.[1];
      if (name === undefined || !Object.hasOwn(operations, name)) return false;
      const operation = operations[name as keyof typeof operations] as (body: unknown) => Promise<unknown>;
      sendJson(response, await operation(await readJson(request)));
      return true;
    },
    activeFaults: () => [],
    // What an operator did is meant to stay.
    end: async () => undefined,
  };
}
