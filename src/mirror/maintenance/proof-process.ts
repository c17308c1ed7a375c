// Entry of the process that checks a mirror's proof, see proof.ts. Reads one consistent state on its own connection.
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
