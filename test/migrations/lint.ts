import { type AlterTableCmd, type ColumnDef, type Constraint, type Node, parse } from 'libpg-query';
import { parseRequirement } from '../../cli/src/providers/schema/contract-migrations.ts';

/*
 * Which statements of a migration the code of the last release survives, while it runs beside the new one, and which
 * block its queries. PostgreSQL's own parser reads them. Rules and reasons: docs/contracts.md.
 */

export type Rule = keyof typeof MESSAGES;

export interface Finding {
  readonly rule: Rule;
  /** What the statement does, why that is unsafe, and what to do instead. */
  readonly message: string;
}

/** Statements that may name tables made by the same file; nothing reads those yet. */
interface Context {
  readonly made: Set<string>;
}

/** What a statement may do where the file says which release of the service does without what it removes. */
const contracts: ReadonlySet<Rule> = new Set(['drop', 'rename', 'change-type', 'not-null', 'narrow']);
/** Of these, what is unsafe for the release that does without, too: it needs an allowance with its reason as well. */
const unsafeForAll: ReadonlySet<Rule> = new Set(['rename', 'change-type']);
/** Of these, what the older releases may satisfy already: an allowance says why, and then nothing is required. */
const maySuitAll: ReadonlySet<Rule> = new Set(['narrow']);

/**
 * What is unsafe in the text of one migration of `service`; empty when nothing is. `-- allow <rule>: <reason>` above a
 * statement lets it pass, and `-- requires: <service> >= <version>` what a contract migration does. Rejects with the parser's
 * error when the text is not SQL, and with that of the requirement.
 */
export async function lintMigration(text: string, service: string): Promise<readonly Finding[]> {
  const isContract = parseRequirement(text, service) !== undefined;
  const { stmts = [] } = await parse(text);
  const bytes = Buffer.from(text);
  const context: Context = { made: new Set() };
  // A statement's place begins behind the comments above it, so its text is taken from the end of the one before.
  let start = 0;
  return stmts.flatMap(({ stmt, stmt_location = 0, stmt_len }) => {
    const end = stmt_len === undefined ? bytes.length : stmt_location + stmt_len;
    const allowed = allowedRules(bytes.subarray(start, end).toString());
    start = end;
    return findings(stmt as Node, context).filter(({ rule }) => {
      const isAllowed = allowed.has(rule);
      if (!contracts.has(rule)) return !isAllowed;
      if (!isContract) return !(isAllowed && maySuitAll.has(rule));
      return unsafeForAll.has(rule) && !isAllowed;
    });
  });
}

function allowedRules(statement: string): ReadonlySet<string> {
  const comments = statement.matchAll(/^--[ \t]*allow ([a-z-]+):[ \t]*\S/gm);
  return new Set([...comments].map(([, rule]) => rule as string));
}

type Kind = Node extends infer One ? (One extends object ? keyof One : never) : never;
type Body<Name extends string> = Node extends infer One ? (One extends Record<Name, infer B> ? B : never) : never;
type Check = { readonly [Name in Kind]?: (body: Body<Name>, context: Context) => readonly Finding[] };

const nothing = () => [];

/** By the parser's kind of statement; one that is not here is a finding itself. */
const checks: Check = {
  CreateStmt(body, { made }) {
    if (body.relation?.relname !== undefined) made.add(body.relation.relname);
    return [];
  },
  CreateSeqStmt: nothing,
  CreateFunctionStmt: nothing,
  CreateEnumStmt: nothing,
  CommentStmt: nothing,
  GrantStmt: nothing,
  InsertStmt: nothing,
  SelectStmt: nothing,
  ViewStmt: nothing,
  CreateTrigStmt: (body, { made }) => (made.has(body.relation?.relname ?? '') ? [] : [found('trigger')]),
  AlterTableStmt(body, { made }) {
    if (made.has(body.relation?.relname ?? '')) return [];
    return (body.cmds ?? []).flatMap((command) =>
      alterations((command as { AlterTableCmd: AlterTableCmd }).AlterTableCmd),
    );
  },
  RenameStmt: (body, { made }) => (made.has(body.relation?.relname ?? '') ? [] : [found('rename')]),
  DropStmt: (body) => (body.removeType === 'OBJECT_INDEX' ? [] : [found('drop')]),
  TruncateStmt: () => [found('drop')],
  IndexStmt(body, { made }) {
    return body.concurrent === true || made.has(body.relation?.relname ?? '') ? [] : [found('index')];
  },
  UpdateStmt: (body) => (body.whereClause === undefined ? [found('every-row')] : []),
  DeleteStmt: (body) => (body.whereClause === undefined ? [found('every-row')] : []),
};

function findings(statement: Node, context: Context): readonly Finding[] {
  const [kind, body] = Object.entries(statement)[0] as [Kind, never];
  const check = checks[kind] as ((body: never, context: Context) => readonly Finding[]) | undefined;
  return check === undefined
    ? [{ ...found('unknown'), message: `${kind}: ${MESSAGES.unknown}` }]
    : check(body, context);
}

/** Changes of a table that the last release uses. */
function alterations({ subtype, def }: AlterTableCmd): readonly Finding[] {
  switch (subtype) {
    case 'AT_DropColumn':
    case 'AT_DropConstraint':
    case 'AT_SetRelOptions':
    case 'AT_ColumnDefault':
    case 'AT_DropNotNull':
    case 'AT_ValidateConstraint':
      return subtype === 'AT_DropColumn' ? [found('drop')] : [];
    case 'AT_AlterColumnType':
      return [found('change-type')];
    case 'AT_SetNotNull':
      return [found('not-null')];
    case 'AT_AddColumn':
      return newColumn((def as { ColumnDef: ColumnDef }).ColumnDef);
    case 'AT_AddConstraint':
      return newConstraint((def as { Constraint: Constraint }).Constraint);
    default:
      return [{ ...found('unknown'), message: `ALTER TABLE ${subtype}: ${MESSAGES.unknown}` }];
  }
}

function newColumn({ constraints = [] }: ColumnDef): readonly Finding[] {
  const all = constraints.map((one) => (one as { Constraint: Constraint }).Constraint);
  const has = (type: Constraint['contype']) => all.some(({ contype }) => contype === type);
  const volatile = all.some(({ contype, raw_expr }) => contype === 'CONSTR_DEFAULT' && isVolatile(raw_expr));
  return [
    ...(has('CONSTR_NOTNULL') && !has('CONSTR_DEFAULT') ? [found('not-null')] : []),
    ...(volatile || has('CONSTR_IDENTITY') || has('CONSTR_GENERATED') ? [found('rewrite')] : []),
    ...(has('CONSTR_UNIQUE') || has('CONSTR_PRIMARY') ? [found('index')] : []),
    ...(has('CONSTR_CHECK') || has('CONSTR_FOREIGN') ? [found('unvalidated')] : []),
  ];
}

/** `now()` and its kin have one value for the whole statement; any other function may have one per row. */
const STABLE = new Set(['now', 'transaction_timestamp', 'statement_timestamp', 'current_setting']);

function isVolatile(expression: unknown): boolean {
  const names = [
    ...JSON.stringify(expression).matchAll(/"funcname":\[(?:[^\]]*,)?\{"String":\{"sval":"([^"]+)"\}\}\]/g),
  ];
  return names.some(([, name]) => !STABLE.has(name as string));
}

function newConstraint({ contype, indexname, skip_validation }: Constraint): readonly Finding[] {
  if (contype === 'CONSTR_UNIQUE' || contype === 'CONSTR_PRIMARY')
    return indexname === undefined ? [found('index')] : [];
  if (contype === 'CONSTR_NOTNULL') return [found('not-null')];
  return [found('narrow'), ...(skip_validation === true ? [] : [found('unvalidated')])];
}

const MESSAGES = {
  drop: 'removes what the code of the last release reads; release code that does without it, then say "-- requires:"',
  rename:
    'removes the old name; add the new one beside it, write both, switch, and drop the old one in a later release',
  'change-type':
    'rewrites the table under a lock, and old code meets the new type; add a column of the new type instead',
  'not-null': 'makes inserts of the old code fail; add a default, or say "-- requires:" once a release inserts no NULL',
  narrow:
    'refuses rows that old code may write; say "-- requires:", or with "-- allow narrow:" why old code writes none',
  rewrite: 'writes every row under a lock; add the column without it and fill it in batches',
  unvalidated: 'reads the whole table under a lock; add it NOT VALID and VALIDATE it in the next file',
  index: 'blocks writes while it is built; CREATE INDEX CONCURRENTLY, then ADD CONSTRAINT ... USING INDEX',
  trigger: 'runs in the writes of old code, too, and fails them when it fails; say why it cannot',
  'every-row': 'locks every row until it ends; say which rows, in batches',
  unknown: 'the linter does not know it; add a rule',
} as const;

/** Names of all rules. */
export const rules = Object.keys(MESSAGES) as readonly Rule[];

function found(rule: Rule): Finding {
  return { rule, message: MESSAGES[rule] };
}
