// The route table.
import type { Route } from '../route.js';
import { governingRoutes } from './governing.js';
import { leaseRoutes } from './leases.js';
import { lookingRoutes } from './looking.js';
import { operationRoutes } from './operations.js';
import { streamRoutes } from './streams.js';
import { streamUpkeepRoutes } from './stream-upkeep.js';
import { tokenRoutes } from './tokens.js';

export const ROUTES: readonly Route[] = [
  ...leaseRoutes,
  ...lookingRoutes,
  ...governingRoutes,
  ...operationRoutes,
  ...tokenRoutes,
  ...streamRoutes,
  ...streamUpkeepRoutes,
];
