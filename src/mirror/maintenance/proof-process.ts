// Entry of the process that checks the proof of a mirror, see proof.ts. Reads one consistent state on a connection of its own.
import { withReader } from '../open.ts'
import { judgeWalks, type ProofVerified } from './proof.ts'
import { answerOnce, type ProcessRequest } from './statement-process.ts'

answerOnce(
  ({ path }: ProcessRequest): ProofVerified =>
    withReader(path, (db) => {
      db.exec('BEGIN')
      return { path, ...judgeWalks(db) }
    }),
)
