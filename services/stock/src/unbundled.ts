import { createRequire } from 'node:module';

const require = createRequire(import.meta.filename);

/** Loads a package as it is installed: those that read `.proto` files beside their code cannot be bundled. */
export function requireUnbundled<Module>(name: 'grpc-health-check' | '@grpc/reflection'): Module {
  return require(name) as Module;
}
