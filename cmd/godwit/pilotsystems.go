package main

import (
	"github.com/spf13/cobra"

	"godwit/pilot/batch"
)

func newPilotSlurm() *cobra.Command {
	var partition string
	cmd, _ := newPilotOf("sbatch", &cobra.Command{
		Use:   "slurm --most N [-- SBATCH-ARG...]",
		Short: "Run pool nodes on the idle nodes of a Slurm cluster",
		Long: `Run pool nodes on the idle nodes of a Slurm cluster. The pilot submits a placeholder job for each
idle node, and a placeholder runs ` + "`godwit up`" + `. If local jobs wait for nodes, the pilot ends as many
placeholders as they need. Run it on a login node, as a user that may submit jobs. The program and
the files that flags name must have the same path on all nodes. Ctrl-C ends all placeholders.`,
		Example: `  godwit pilot slurm --most 20 --overlay @/home/me/lab.ticket
  godwit pilot slurm --most 20 --keep-idle 2 --partition night -- --qos=scavenger --time=8:00:00`,
	}, func(f *pilotFlags, extra []string) batch.System {
		return &batch.Slurm{Name: f.name, User: f.user, Partition: partition, Account: f.account, Extra: extra,
			Script: batch.SlurmScript(&f.spec)}
	})
	cmd.Flags().StringVar(&partition, "partition", "", "`PARTITION` for placeholders (default the cluster's default)")
	return cmd
}

func newPilotSGE() *cobra.Command {
	var queue string
	cmd, f := newPilotOf("qsub", &cobra.Command{
		Use:   "sge --most N [-- QSUB-ARG...]",
		Short: "Run pool nodes on the idle nodes of a Grid Engine cluster",
		Long: `Run pool nodes on the idle nodes of a Grid Engine cluster, as ` + "`godwit pilot slurm`" + ` does on a Slurm
cluster. A placeholder has one slot. If a node has several, request all of them, for example with
-- -pe smp 16. A graceful placeholder ends by ` + "`qmod -sj`" + `, whose notification drains its node.`,
		Example: `  godwit pilot sge --most 20 --overlay @/home/me/lab.ticket
  godwit pilot sge --most 20 --keep-idle 2 --queue night.q -- -pe smp 16 -l s_rt=7:59:00,h_rt=8:00:00`,
	}, func(f *pilotFlags, extra []string) batch.System {
		return &batch.SGE{Name: f.name, User: f.user, Queue: queue, Account: f.account, Extra: extra,
			Script: batch.SGEScript(&f.spec)}
	})
	f.prefixed = true
	cmd.Flags().StringVar(&queue, "queue", "", "`QUEUE` for placeholders (default any queue)")
	return cmd
}

func newPilotPBS() *cobra.Command {
	var (
		queue     string
		resources []string
	)
	cmd, f := newPilotOf("qsub", &cobra.Command{
		Use:   "pbs --most N [-- QSUB-ARG...]",
		Short: "Run pool nodes on the idle nodes of an OpenPBS or Torque cluster",
		Long: `Run pool nodes on the idle nodes of an OpenPBS or Torque cluster, as ` + "`godwit pilot slurm`" + ` does on a
Slurm cluster. A placeholder requests the resources that --resource names, which should be a whole
node. A graceful placeholder ends by ` + "`qsig -s SIGUSR1`" + `, which drains its node.`,
		Example: `  godwit pilot pbs --most 20 --resource nodes=1:ppn=16 --overlay @/home/me/lab.ticket
  godwit pilot pbs --most 20 --resource select=1:ncpus=16 --resource place=excl --queue night`,
	}, func(f *pilotFlags, extra []string) batch.System {
		return &batch.PBS{Name: f.name, User: f.user, Queue: queue, Account: f.account, Resources: resources, Extra: extra,
			Script: batch.PBSScript(&f.spec)}
	})
	f.prefixed = true
	s := cmd.Flags()
	s.StringVar(&queue, "queue", "", "`QUEUE` for placeholders (default the cluster's default)")
	s.StringArrayVar(&resources, "resource", []string{"nodes=1"}, "`RESOURCES` of a placeholder, an argument -l of qsub "+
		"(repeatable)")
	return cmd
}
